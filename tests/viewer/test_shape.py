"""Samples and counts of a shape."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from rocm3d.artifact.artifact_report import InvalidArtifactError
from rocm3d.model.artifact import Artifact
from rocm3d.viewer.shape import PointCloud, Shape, Splats, Surface, refuse_empty


def make_shape(form) -> Shape:
    artifact = Artifact(path="a", kind="points", outcome="ok", metrics={"points": len(form.points), "extent": 1.0})
    return Shape(Path("a"), artifact, form, "+z")


def test_nothing_is_refused():
    with pytest.raises(InvalidArtifactError):
        refuse_empty(numpy.zeros((0, 3)))


def test_a_few_points_far_off_do_not_count():
    points = numpy.random.default_rng(0).normal(size=(2000, 3))
    points[:3] = 1e6

    assert numpy.abs(make_shape(PointCloud(points, points)).sample()).max() < 10


def test_the_ends_of_a_surface_do():
    points = numpy.zeros((10_000, 3))
    points[1] = [7, 0, 0]

    assert make_shape(Surface(b"", points)).sample()[:, 0].max() == 7


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_of_a_few_points_something_is_left(count):
    points = numpy.random.default_rng(0).normal(size=(count, 3))

    assert 1 <= len(make_shape(PointCloud(points, points)).sample()) <= count


def test_gaussians_reach_beyond_their_centres_but_one_as_large_as_the_sky_does_not_count():
    centres, sizes = numpy.random.default_rng(0).uniform(-1, 1, (500, 3)), numpy.full((500, 3), 0.5)
    sizes[0] = 1e5
    splats = Splats(centres, sizes, numpy.zeros((500, 4)), centres, numpy.ones(500))

    assert numpy.abs(make_shape(splats).sample()).max() == pytest.approx(2, abs=0.1)


def test_counts_are_those_of_the_file_with_their_words():
    assert make_shape(PointCloud(numpy.zeros((1200, 3)), numpy.zeros((1200, 3)))).counts_text == "1,200 points"
