from __future__ import annotations

import base64
import io
import sys

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from PIL import Image

from rocm3d.artifact.scatter import scatter


def seen(text: str) -> numpy.ndarray:
    return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(text))))


@pytest.mark.parametrize("points", [numpy.zeros((0, 3)), numpy.zeros((1, 3)), numpy.full((9, 3), numpy.nan)])
def test_there_is_nothing_to_show(points):
    assert scatter(points) == ""


def test_without_the_library_there_is_no_picture(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)

    assert scatter(numpy.eye(3)) == ""


@given(arrays_of.arrays("f4", st.tuples(st.integers(0, 20), st.just(3))))
def test_any_points_have_a_picture_or_none(points):
    text = scatter(points)

    assert text == "" or seen(text).shape[1] == 160


def test_near_ones_cover_far_ones_in_their_colours():
    corners = numpy.array([[x, y, z] for z in (0.0, 0.5) for y in (0.0, 2.0) for x in (0.0, 4.0)])
    points = numpy.repeat(corners, 40, axis=0)
    colours = numpy.where(points[:, 2:] > 0, [[0, 255, 0]], [[255, 0, 0]]).astype("u1")

    picture = seen(scatter(points, colours))

    assert picture.shape == (81, 160, 4)
    assert {tuple(pixel) for pixel in picture[picture[..., 3] > 0]} == {(0, 255, 0, 255)}


def test_many_points_are_thinned_out():
    points = numpy.random.default_rng(0).random((450_000, 3))

    assert seen(scatter(points))[..., 3].mean() > 200
