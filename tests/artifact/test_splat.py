from __future__ import annotations

import numpy
import pytest

from rocm3d.artifact.artifact_report import InvalidArtifactError
from rocm3d.artifact.splat import is_packed_layout, is_plain_layout, packed_report, plain_report


def test_points_with_colours_are_no_splats():
    assert not is_plain_layout(["x", "y", "z", "red", "green", "blue", "opacity"])
    assert not is_packed_layout(["x", "y", "z"])


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (dict.fromkeys(("x", "opacity", "scale_0"), numpy.nan), "all 50 Gaussians hold NaN or infinity"),
        ({"f_rest_3": numpy.inf}, "all 50 Gaussians hold NaN or infinity"),
        ({"opacity": -20.0}, "invisible: all 50 Gaussians are transparent"),
        ({"x": 0, "y": 0, "z": 0}, "collapsed: all Gaussians are in one place"),
        (dict.fromkeys(("scale_0", "scale_1", "scale_2"), -60.0), "degenerate: scales of 50 of 50 Gaussians"),
        (dict.fromkeys(("scale_0", "scale_1", "scale_2"), 1000.0), "degenerate: scales of 50 of 50 Gaussians"),
    ],
)
def test_splats_that_show_nothing(gaussians, values, problem):
    assert plain_report(gaussians(50, **values)).problems[0] == problem


def test_no_gaussians(gaussians):
    assert plain_report(gaussians(0)).problems == ["empty: no Gaussians"]


def test_a_single_nan_is_reported(gaussians):
    rows = gaussians(50)
    rows["rot_2"][7] = numpy.nan

    assert plain_report(rows).problems == ["1 of 50 Gaussians hold NaN or infinity"]


def test_a_sound_splat_is_counted(gaussians):
    report = plain_report(gaussians(500, opacity=0.0))

    assert report.problems == []
    assert {**report.metrics, "extent": 0} == {
        "gaussians": 500, "not_finite": 0, "degenerate": 0, "transparent": 0,
        "opacity": 0.5, "sh_degree": 1, "extent": 0,
    }  # fmt: skip
    assert (sum(report.histogram), report.histogram[10]) == (500, 500)


def test_what_hides_nothing_is_not_in_the_picture(gaussians):
    near = gaussians(500, opacity=5.0)
    clouded = numpy.concatenate([near, gaussians(500, opacity=-3.0)])

    assert plain_report(clouded).picture == plain_report(near).picture != ""
    assert plain_report(gaussians(500, opacity=-3.0)).picture != ""


@pytest.mark.parametrize(("values", "degree"), [(0, 0), (9, 1), (24, 2), (45, 3)])
def test_the_degree_follows_from_the_number_of_coefficients(gaussians, values, degree):
    names = ["x", "y", "z", "opacity", "scale_0", "rot_0", *(f"f_rest_{at}" for at in range(values))]
    rows = numpy.zeros(3, dtype=[(name, "f4") for name in names])

    assert plain_report(rows).metrics["sh_degree"] == degree


@pytest.fixture
def packing():
    def make(count: int, **bounds: float):
        names = [f"{side}_{what}{axis}" for side in ("min", "max") for what in ("", "scale_") for axis in "xyz"]
        chunks = numpy.zeros(-(-count // 256), dtype=[(name, "f4") for name in names])
        for name in names:
            chunks[name] = {"max_x": 1, "max_y": 1, "max_z": 1}.get(name, -4 if "scale" in name else 0)
        for name, value in bounds.items():
            chunks[name] = value
        fields = ("packed_position", "packed_rotation", "packed_scale", "packed_color")
        rows = numpy.zeros(count, dtype=[(name, "u4") for name in fields])
        rows["packed_position"] = numpy.random.default_rng(3).integers(0, 2**32, count)
        rows["packed_color"] = 0x204060FF
        return rows, chunks

    return make


def test_packed_splats_need_their_chunks(packing):
    rows, chunks = packing(300)

    with pytest.raises(InvalidArtifactError, match="without their chunk bounds"):
        packed_report(rows, {"chunk": chunks[:1]})
    with pytest.raises(InvalidArtifactError, match="without their chunk bounds"):
        packed_report(rows, {})


def test_packed_splats_of_nan(packing):
    rows, chunks = packing(300, min_x=numpy.nan)

    assert packed_report(rows, {"chunk": chunks}).problems == ["all 300 Gaussians hold NaN or infinity"]


def test_packed_splats_are_counted_and_what_is_not_unpacked_is_reported(packing):
    rows, chunks = packing(300)

    report = packed_report(rows, {"chunk": chunks})

    assert report.problems == []
    assert (report.metrics["gaussians"], report.metrics["opacity"], report.metrics["sh_degree"]) == (300, 1, 0)
    assert 1.2 < report.metrics["extent"] < 1.8
    assert report.unread == ["rotations, colours and spherical harmonics of the packed layout"]


def test_bits_of_a_packed_place(packing):
    rows, chunks = packing(2, max_x=2047, max_y=1023, max_z=2047)
    rows["packed_position"] = [0, (3 << 21) | (4 << 11) | 12]

    assert packed_report(rows, {"chunk": chunks}).metrics["extent"] == pytest.approx(13)
