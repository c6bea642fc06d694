"""Covariances, rotations, the packed layout, and sampling of Gaussians."""

from __future__ import annotations

import numpy
import plyfile
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.artifact.artifact_report import InvalidArtifactError
from rocm3d.viewer.gaussians import covariances, read, sample_rows
from rocm3d.viewer.shape import Splats

CHUNK = (
    *("min_x", "min_y", "min_z", "max_x", "max_y", "max_z"),
    *("min_scale_x", "min_scale_y", "min_scale_z", "max_scale_x", "max_scale_y", "max_scale_z"),
)


def single_gaussian(sizes, rotation) -> Splats:
    return Splats(
        numpy.zeros((1, 3)), numpy.array([sizes], dtype=float), numpy.array([rotation], dtype=float),
        numpy.zeros((1, 3), dtype=numpy.uint8), numpy.ones(1),
    )  # fmt: skip


def test_nothing_finite_is_refused(write_splat, ball):
    with pytest.raises(InvalidArtifactError, match="no finite points"):
        read(write_splat(rows=ball(x=numpy.nan)), 1000)


def test_those_that_are_not_finite_are_left_out(write_splat, ball):
    rows = ball(10)
    rows["y"][3], rows["opacity"][4] = numpy.inf, numpy.nan

    splats, _ = read(write_splat(rows=rows), 1000)

    assert len(splats.centres) == len(splats.colours) == len(splats.opacities) == 8


def test_deviations_opacity_and_colour_are_those_of_the_trainer(write_splat, ball):
    splats, notes = read(write_splat(rows=ball(5)), 1000)

    assert notes == []
    assert splats.scales == pytest.approx(0.12)
    assert splats.opacities == pytest.approx(1 / (1 + numpy.exp(-4)))
    # 0.5 + 1.6 / (2 sqrt(pi)) of 255
    assert splats.colours[0].tolist() == [242, 12, 12]


def test_two_scales_are_a_flat_gaussian(write_splat, ball):
    rows = ball(5)
    flat = numpy.empty(5, dtype=[entry for entry in rows.dtype.descr if entry[0] != "scale_2"])
    for name in flat.dtype.names:
        flat[name] = rows[name]

    splats, _ = read(write_splat(rows=flat), 1000)

    assert splats.scales[0] == pytest.approx([0.12, 0.12, 0.0012])


def test_a_quarter_turn_swaps_the_axes():
    """About z: what was long along x is long along y."""
    turned = covariances(single_gaussian([3, 1, 1], [numpy.sqrt(0.5), 0, 0, numpy.sqrt(0.5)]))

    assert turned[0] == pytest.approx(numpy.diag([1.0, 9.0, 1.0]), abs=1e-9)


@given(st.lists(st.floats(0.01, 10), min_size=3, max_size=3), st.lists(st.floats(-1, 1), min_size=4, max_size=4))
def test_moments_are_symmetric_and_keep_the_deviations(sizes, rotation):
    length = numpy.linalg.norm(rotation)
    unit = numpy.array(rotation) / length if length > 1e-3 else [1.0, 0.0, 0.0, 0.0]

    (moments,) = covariances(single_gaussian(sizes, unit))

    assert moments == pytest.approx(moments.T)
    assert sorted(numpy.linalg.eigvalsh(moments)) == pytest.approx(sorted(size**2 for size in sizes), rel=1e-6)


def test_many_are_drawn_in_part_and_reported(write_splat, ball):
    splats, notes = read(write_splat(rows=ball(400)), 100)

    assert len(splats.centres) == 100
    assert notes == ["100 of 400 Gaussians are drawn (random sample)"]
    # each covers what four did
    assert splats.scales == pytest.approx(0.24)


def test_the_same_rows_are_chosen_again():
    first, second = sample_rows(1000, 10, "points")[0], sample_rows(1000, 10, "points")[0]

    assert first.tolist() == second.tolist()
    assert len(set(first.tolist())) == 10


def pack(quaternion) -> int:
    """A rotation in two and three times ten bits, by the words of the format."""
    largest = int(numpy.argmax(numpy.abs(quaternion)))
    signed = numpy.array(quaternion) * (1 if quaternion[largest] >= 0 else -1)
    name = largest
    for at in range(4):
        if at != largest:
            name = (name << 10) | round((signed[at] / numpy.sqrt(2) + 0.5) * 1023)
    return name


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda entry: numpy.linalg.norm(entry) > 0.1))
def test_packed_gaussians_are_unpacked(tmp_path_factory, rotation):
    expected = numpy.array(rotation) / numpy.linalg.norm(rotation)
    chunk = numpy.zeros(1, dtype=[(name, "f4") for name in CHUNK])
    for name in CHUNK:
        chunk[name] = {"min": -2.0, "max": 2.0}[name[:3]]
    words = numpy.zeros(1, dtype=[(f"packed_{name}", "u4") for name in ("position", "rotation", "scale", "color")])
    words["packed_position"] = 2047 << 21  # right, front, below
    words["packed_scale"] = 2047 << 21
    words["packed_rotation"], words["packed_color"] = pack(expected), 0xFF800080
    path = tmp_path_factory.mktemp("packed") / "p.ply"
    elements = [plyfile.PlyElement.describe(chunk, "chunk"), plyfile.PlyElement.describe(words, "vertex")]
    plyfile.PlyData(elements).write(str(path))

    splats, _ = read(path, 10)

    assert splats.centres[0] == pytest.approx([2, -2, -2])
    assert splats.scales[0] == pytest.approx(numpy.exp([2, -2, -2]))
    assert splats.colours[0].tolist() == [255, 128, 0]
    assert splats.opacities[0] == pytest.approx(128 / 255)
    assert abs(float(splats.rotations[0] @ expected)) == pytest.approx(1, abs=1e-4)
