from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.artifact.artifact_report import InvalidArtifactError
from rocm3d.artifact.ply import MAX_HEADER_BYTES, read_header

POINTS = b"ply\nformat %s 1.0\ncomment x\nelement vertex %d\nproperty float x\nproperty double y\nend_header\n"


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"ply\nformat ascii 1.0\nelement vertex 1\n", "truncated: the header has no end"),
        (b"ply\n" + b"comment\n" * MAX_HEADER_BYTES, "damaged: the header has no end"),
        (b"ply\nend_header\n", "is not a PLY format"),
        (b"ply\nformat ascii 1.0\nelement vertex -1\nend_header\n", "unknown header line 'element vertex -1'"),
        (b"ply\nformat ascii 1.0\nelement v 1\nproperty half x\nend_header\n", "unknown property type 'half'"),
        (b"ply\nformat ascii 1.0\nproperty float x\nend_header\n", "unknown header line 'property float x'"),
    ],
)
def test_headers_that_are_refused(head, reason):
    with pytest.raises(InvalidArtifactError, match=reason):
        read_header(head[:MAX_HEADER_BYTES])


def test_more_rows_than_the_file_can_hold():
    header = read_header(POINTS % (b"binary_little_endian", 10**15))

    with pytest.raises(
        InvalidArtifactError, match="truncated: the header declares 1000000000000000 vertex, but at least 1199"
    ):
        header.refuse_truncated(10**6)


def test_rows_that_hold_nothing_are_not_counted_to_the_end():
    header = read_header(b"ply\nformat ascii 1.0\nelement vertex 999999999999\nend_header\n")

    with pytest.raises(InvalidArtifactError, match="element vertex has 999999999999 rows"):
        header.refuse_truncated(100)


@pytest.mark.parametrize(("form", "bytes_of_a_row"), [(b"binary_big_endian", 12), (b"ascii", 4)])
def test_a_file_of_just_the_right_size_is_whole(form, bytes_of_a_row):
    header = read_header(POINTS % (form, 3))

    header.refuse_truncated(header.size + 3 * bytes_of_a_row)
    with pytest.raises(InvalidArtifactError, match="truncated"):
        header.refuse_truncated(header.size + 3 * bytes_of_a_row - 2)


def test_lists_count_with_their_length_alone():
    header = read_header(
        b"ply\r\nformat ascii 1.0\r\nelement face 2\r\nproperty list uchar int vertex_indices\r\nend_header\r\n"
    )

    (face,) = header.elements
    assert (face.min_row_bytes, face.lists, header.is_text) == (1, ["vertex_indices"], True)
    assert header.element("vertex") is None


@given(st.binary(max_size=300))
def test_any_header_is_read_or_refused(values):
    try:
        header = read_header(b"ply\nformat ascii 1.0\n" + values + b"\nend_header\n")
    except InvalidArtifactError:
        return
    assert header.size > 0
