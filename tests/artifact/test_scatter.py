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

from rocm3d.artifact.scatter import draw_points, draw_surface


def decode_png(text: str) -> numpy.ndarray:
    return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(text))).convert("RGBA"))


def sphere(steps: int = 24) -> tuple[numpy.ndarray, numpy.ndarray]:
    down, round_ = numpy.meshgrid(numpy.linspace(0, numpy.pi, steps), numpy.linspace(0, 2 * numpy.pi, steps))
    points = numpy.stack(
        [numpy.sin(down) * numpy.cos(round_), numpy.cos(down), numpy.sin(down) * numpy.sin(round_)], -1
    )
    corner = numpy.arange(steps * (steps - 1)).reshape(-1, 1)[numpy.arange(steps * (steps - 1)) % steps != steps - 1]
    first = corner + numpy.array([0, 1, steps])
    return points.reshape(-1, 3), numpy.concatenate([first, corner + numpy.array([1, steps + 1, steps])])


@pytest.mark.parametrize("points", [numpy.zeros((0, 3)), numpy.zeros((1, 3)), numpy.full((9, 3), numpy.nan)])
def test_nothing_to_show(points):
    assert draw_points(points) == ""
    assert draw_surface(points, numpy.zeros((0, 3), dtype=int)) == ""


def test_without_the_library_no_picture_is_drawn(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)

    assert draw_points(numpy.eye(3)) == ""


@given(arrays_of.arrays("f4", st.tuples(st.integers(0, 20), st.just(3))))
def test_any_points_have_a_picture_or_none(points):
    text = draw_points(points)

    assert text == "" or max(decode_png(text).shape[:2]) <= 240


@given(
    arrays_of.arrays("f8", st.tuples(st.integers(1, 8), st.just(3))),
    arrays_of.arrays("i8", st.tuples(st.integers(0, 8), st.just(3)), elements=st.integers(0, 7)),
)
def test_any_triangles_have_a_picture_or_none(points, triangles):
    text = draw_surface(points, triangles % len(points))

    assert text == "" or max(decode_png(text).shape[:2]) <= 240


def test_near_ones_cover_far_ones_in_their_colours():
    """Two sheets, viewed along the shortest side: only a rim of the far one is visible."""
    side = numpy.linspace(0, 4, 150)
    sheet = numpy.stack([*(part.ravel() for part in numpy.meshgrid(side, side)), numpy.zeros(150 * 150)], axis=1)
    points = numpy.concatenate([sheet + numpy.array([0, 0, depth]) for depth in (0.4, 0.0)])
    colours = numpy.where(points[:, 2:] > 0, [[0, 255, 0]], [[255, 0, 0]]).astype("u1")

    picture = decode_png(draw_points(points, colours)).astype(int)
    green = (picture[..., 1] > 200) & (picture[..., 0] < 60)
    red = (picture[..., 0] > 200) & (picture[..., 1] < 60)

    assert green.sum() > 5 * red.sum()


def test_a_surface_is_shaded_and_has_no_holes():
    picture = decode_png(draw_surface(*sphere()))
    middle = picture[60:180, 60:180]

    assert (middle[..., 3] > 250).mean() > 0.99
    assert numpy.ptp(middle[..., 0]) > 80
    assert (picture[:8, :8, 3] == 0).all()


def test_a_few_that_lie_far_off_do_not_shrink_the_picture():
    points = numpy.random.default_rng(0).random((20_000, 3))
    points[:20] *= 1e6

    assert decode_png(draw_points(points))[..., 3].mean() > 60


def test_many_points_and_triangles_are_thinned_out_and_stay_small():
    points = numpy.random.default_rng(0).random((900_000, 3))
    triangles = numpy.random.default_rng(1).integers(0, len(points), (900_000, 3))

    for text in (draw_points(points), draw_surface(points, triangles)):
        assert (decode_png(text)[100:140, 100:140, 3] > 250).all()
        assert len(text) < 80_000


def test_the_same_file_has_the_same_picture():
    assert draw_surface(*sphere()) == draw_surface(*sphere())
