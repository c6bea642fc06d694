from __future__ import annotations

import io
import pickle
import struct
import zipfile

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from rocm3d.artifact import number_file
from rocm3d.artifact.artifact_report import InvalidArtifactError, UnreadableArtifactError
from rocm3d.artifact.number_file import inspect_npy, inspect_npz


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


class Trap:
    def __reduce__(self):
        return exit, (97,)


def test_objects_are_never_loaded(tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.array([Trap()], dtype=object), allow_pickle=True)
    numpy.savez(tmp_path / "a.npz", weights=numpy.array([{}], dtype=object))

    with pytest.raises(UnreadableArtifactError, match="contains only pickled objects, which rocm3d never loads"):
        inspect_npy(tmp_path / "a.npy")
    with pytest.raises(UnreadableArtifactError, match="contains only pickled objects"):
        inspect_npz(tmp_path / "a.npz")


def test_objects_next_to_numbers_are_passed_over_and_named(tmp_path):
    numpy.savez(tmp_path / "a.npz", about=numpy.array([{}], dtype=object), scores=[0.5])

    report = inspect_npz(tmp_path / "a.npz")

    assert (report.problems, report.metrics["scores.maximum"]) == ([], 0.5)
    assert report.unread == ["about: pickled objects, which rocm3d never loads"]


def test_a_pickle_in_an_archive_is_not_opened(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(Trap()))

    with pytest.raises(InvalidArtifactError, match="wrong extension: a zip archive without arrays"):
        inspect_npz(tmp_path / "a.npz")


def test_an_archive_that_unpacks_to_more_than_anybody_has(tmp_path, monkeypatch):
    monkeypatch.setattr(number_file, "_MOST", 1 << 20)
    numpy.savez_compressed(tmp_path / "a.npz", a=numpy.zeros(1 << 20))

    with pytest.raises(
        InvalidArtifactError, match=r"unpacks to 8,388,736 bytes from [\d,]+ in 1 arrays: more than the limit"
    ):
        inspect_npz(tmp_path / "a.npz")


def test_an_archive_of_very_many_files(tmp_path, monkeypatch):
    monkeypatch.setattr(number_file, "_MEMBERS", 3)
    numpy.savez(tmp_path / "a.npz", **{f"a{at}": numpy.zeros(1) for at in range(4)})

    with pytest.raises(InvalidArtifactError, match="in 4 arrays"):
        inspect_npz(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x93NUMPY\x01", "truncated or damaged: the header"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (10,), }\n") + b"\0" * 8, "80 bytes and has 8"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999,), }\n"), "declares 79,999"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,), }\n"), "damaged"),
        (header("{'descr': '|V0', 'fortran_order': False, 'shape': (3,), }\n"), "damaged"),
        (header("__import__('os').system('false')\n"), "damaged"),
        (header("(" * 3000), "damaged"),
    ],
)  # fmt: skip
def test_headers_that_are_refused(tmp_path, content, reason):
    (tmp_path / "a.npy").write_bytes(content)

    with pytest.raises(InvalidArtifactError, match=reason):
        inspect_npy(tmp_path / "a.npy")


def test_a_long_header_is_not_parsed(tmp_path):
    text = ("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }" + " " * 200_000).encode()
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text)) + text + b"\0" * 8)

    with pytest.raises(InvalidArtifactError, match="damaged: the header of array"):
        inspect_npy(tmp_path / "a.npy")


def test_a_truncated_archive(tmp_path):
    numpy.savez(tmp_path / "a.npz", a=numpy.arange(100.0))
    content = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(content[: len(content) // 2])

    with pytest.raises(InvalidArtifactError, match="truncated: the archive has no end"):
        inspect_npz(tmp_path / "a.npz")


def test_a_damaged_archive(tmp_path):
    numpy.savez(tmp_path / "a.npz", a=numpy.arange(100.0))
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[300] ^= 255
    (tmp_path / "a.npz").write_bytes(content)

    with pytest.raises(InvalidArtifactError, match="damaged: Bad CRC-32"):
        inspect_npz(tmp_path / "a.npz")


def test_a_locked_archive_was_not_read(tmp_path):
    numpy.savez(tmp_path / "a.npz", a=numpy.arange(3.0))
    content = bytearray((tmp_path / "a.npz").read_bytes())
    at = content.index(b"PK\x01\x02")
    content[6] |= 1
    content[at + 8] |= 1
    (tmp_path / "a.npz").write_bytes(content)

    with pytest.raises(UnreadableArtifactError, match="compression or encryption"):
        inspect_npz(tmp_path / "a.npz")


def test_nan_and_infinity_are_counted_by_array(tmp_path):
    numpy.savez(tmp_path / "a.npz", a=[1.0, numpy.nan, numpy.nan], b=[numpy.inf, 2.0], c=[7])

    report = inspect_npz(tmp_path / "a.npz")

    assert report.problems == ["2 of 3 numbers of a are NaN", "1 of 2 numbers of b are infinite"]
    assert (report.metrics["nan"], report.metrics["infinite"], report.metrics["a.maximum"]) == (2, 1, 1)


def test_arrays_without_elements(tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.zeros((0, 4)))

    assert inspect_npy(tmp_path / "a.npy").problems == ["empty: every array has 0 elements"]


def test_words_are_passed_over_and_named(tmp_path):
    numpy.savez(tmp_path / "a.npz", names=["x", "y"], scores=[0.5, 0.25])

    report = inspect_npz(tmp_path / "a.npz")

    assert report.unread == ["names: not numeric (<U1)"]
    assert (report.metrics["scores.minimum"], report.metrics["scores.maximum"]) == (0.25, 0.5)


def test_of_very_many_arrays_the_first_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(number_file, "_MAX_REPORTED_ARRAYS", 2)
    numpy.savez(tmp_path / "a.npz", a=[1.0], b=[2.0], c=[numpy.nan])

    report = inspect_npz(tmp_path / "a.npz")

    assert (report.metrics["arrays"], "b.nan" in report.metrics, "c.nan" in report.metrics) == (3, True, False)
    assert report.unread == ["statistics per array: the first 2 of 3 are listed"]
    assert report.problems == ["1 of 1 numbers of c are NaN"]


def test_points_of_an_archive(tmp_path):
    numpy.savez(tmp_path / "a.npz", points=[[0.0, 0, 0], [0, 3, 4]], colors=numpy.zeros((2, 3)))

    report = inspect_npz(tmp_path / "a.npz")

    assert report.kind == "points"
    assert [report.metrics[key] for key in ("points", "extent", "coloured", "arrays")] == [2, 5, 1, 2]


@given(
    arrays_of.arrays(
        st.sampled_from(["f2", "f4", ">f8", "i4", "u1", "?", "c8"]), arrays_of.array_shapes(min_side=0, max_side=5)
    )
)
def test_numbers_are_those_of_numpy(array):
    file = io.BytesIO()
    numpy.save(file, array)
    file.seek(0)

    result = number_file._count_array("a", file, len(file.getvalue()))

    parts = array.reshape(-1)
    parts = numpy.concatenate([parts.real, parts.imag]) if array.dtype.kind == "c" else parts
    finite = parts[numpy.isfinite(parts)]
    assert (result.nan, result.infinite) == (int(numpy.isnan(parts).sum()), int(numpy.isinf(parts).sum()))
    if finite.size:
        assert (result.low, result.high) == (float(finite.min()), float(finite.max()))


def test_pieces_make_no_difference(tmp_path, monkeypatch):
    monkeypatch.setattr(number_file, "_PIECE", 24)
    numpy.save(tmp_path / "a.npy", numpy.arange(100.0))

    metrics = inspect_npy(tmp_path / "a.npy").metrics

    assert (metrics["elements"], metrics["minimum"], metrics["maximum"]) == (100, 0, 99)
