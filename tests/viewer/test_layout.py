"""Positions of shapes and camera."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.artifact import Artifact
from rocm3d.viewer.layout import FIELD_OF_VIEW, RADIUS, arrange, camera_axes, frame_camera, up_rotation
from rocm3d.viewer.shape import Shape, Surface, Up

AXES = {"x": 0, "y": 1, "z": 2}


def box(low, high, up: Up = "+z") -> Shape:
    corners = numpy.array(numpy.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T.astype(float)
    artifact = Artifact(path="a", kind="mesh", outcome="ok", metrics={"vertices": 8, "faces": 12})
    return Shape(Path("a"), artifact, Surface(b"", corners), up)


def project(shapes, aspect):
    """Every corner in picture coordinates from -1 to 1, and whether it is in front of the camera."""
    poses, _ = arrange(shapes)
    camera = frame_camera(shapes, poses, aspect)
    points = numpy.concatenate([pose.world(entry.content.points) for entry, pose in zip(shapes, poses, strict=True)])
    right, up, back = camera_axes()
    away = -(points - camera.position) @ back
    tall = numpy.tan(FIELD_OF_VIEW / 2)
    places = numpy.stack([(points - camera.position) @ right / away / tall / aspect,
                          (points - camera.position) @ up / away / tall], axis=1)  # fmt: skip
    return places, away


@pytest.mark.parametrize("up", get_args(Up))
def test_every_axis_can_be_up_and_nothing_is_mirrored(up):
    axis = numpy.eye(3)[AXES[up[1]]] * (1 if up[0] == "+" else -1)

    assert up_rotation(up) @ axis == pytest.approx([0, 0, 1])
    assert numpy.linalg.det(up_rotation(up)) == pytest.approx(1)
    assert up_rotation(up) @ up_rotation(up).T == pytest.approx(numpy.eye(3))


def test_right_up_and_back_are_a_right_hand():
    right, up, back = camera_axes()

    assert numpy.cross(right, up) == pytest.approx(back)
    assert numpy.linalg.det(numpy.stack([right, up, back])) == pytest.approx(1)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3),
    st.lists(st.floats(1e-3, 1e6), min_size=3, max_size=3),
    st.sampled_from(get_args(Up)),
    st.floats(0.3, 3),
)
def test_one_shape_fills_the_picture_and_stays_inside(low, size, up, aspect):
    places, away = project([box(low, [a + b for a, b in zip(low, size, strict=True)], up)], aspect)

    assert away.min() > 0
    assert 0.8 < numpy.abs(places).max() <= 0.87
    # In the middle: as much is free on one side as on the other.
    assert numpy.abs(places.max(axis=0) + places.min(axis=0)).max() < 0.05


@given(st.floats(0.3, 4), st.floats(0.3, 4))
def test_two_stand_side_by_side_and_do_not_touch(first, second):
    shapes = [box([0, 0, 0], [first] * 3), box([5, 5, 5], [5 + second] * 3)]
    poses, _ = arrange(shapes)
    left, right = (pose.world(entry.content.points) for entry, pose in zip(shapes, poses, strict=True))

    assert left[:, 0].max() < right[:, 0].min()
    places, _ = project(shapes, 1.6)
    assert numpy.abs(places).max() <= 0.87


def test_two_of_like_size_have_one_scale():
    poses, notes = arrange([box([0, 0, 0], [1, 1, 1]), box([0, 0, 0], [2, 2, 2])])

    assert poses[0].scale == poses[1].scale
    assert notes == []


def test_two_of_very_different_size_have_their_own_scales_and_a_note():
    poses, notes = arrange([box([0, 0, 0], [1, 1, 1]), box([0, 0, 0], [100, 100, 100])])

    assert poses[0].scale == pytest.approx(100 * poses[1].scale)
    assert notes == ["drawn at different scales: one is 100 times as large as the other"]


def test_everything_is_brought_to_one_size():
    shape = box([1e6, 1e6, 1e6], [1e6 + 1e-2] * 3)
    (pose,), _ = arrange([shape])

    assert numpy.linalg.norm(pose.world(shape.content.points), axis=1).max() == pytest.approx(RADIUS, rel=1e-3)


def test_a_single_point_has_a_place_and_a_camera():
    shape = box([3, 3, 3], [3, 3, 3])
    poses, _ = arrange([shape])

    assert numpy.isfinite(frame_camera([shape], poses, 1.0).position).all()


def test_a_label_is_over_its_shape_and_above_the_rest():
    shapes = [box([0, 0, 0], [1, 1, 1]), box([0, 0, 0], [1, 1, 3])]
    poses, _ = arrange(shapes)
    camera = frame_camera(shapes, poses, 1.5, 0.1)
    highest = max(camera.height(pose.world(entry.content.points)) for entry, pose in zip(shapes, poses, strict=True))
    labels = numpy.array([camera.label_position(pose.offset, highest) for pose in poses])

    assert (labels - camera.target) @ camera_axes()[1] == pytest.approx([highest, highest])
    assert labels[0][0] < labels[1][0]
