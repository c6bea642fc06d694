"""Nodes of viser's scene."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from rocm3d.viewer.stage import add_lights, draw, serve, short_names


@pytest.mark.parametrize(
    ("paths", "short"),
    [
        (["a/x.ply"], ["x.ply"]),
        (["a/x.ply", "a/y.ply"], ["x.ply", "y.ply"]),
        (["runs/cuda/x.ply", "runs/rocm/x.ply"], ["cuda/x.ply", "rocm/x.ply"]),
        (["a/x.ply", "a/x.ply"], ["a/x.ply", "a/x.ply"]),
    ],
)
def test_names_are_as_long_as_they_must_be(paths, short):
    assert short_names([Path(path) for path in paths]) == short


def test_drawn_again_replaces_the_previous_content(opened, write_splat, write_box, write_cloud):
    splat, box, cloud = opened(write_splat()), opened(write_box()), opened(write_cloud())
    with serve(port=0) as server:
        add_lights(server, plain=True)
        for shapes in ([splat, box], [cloud]):
            camera, notes = draw(server, shapes, aspect=1.5, plain=True)
            present = sorted(server.scene._handle_from_node_name)
        start = server.initial_camera.position

    assert notes == []
    assert [name for name in present if name.startswith("/shown")] == ["/shown", "/shown/0", "/shown/0/form"]
    assert start == pytest.approx(camera.position)


def test_two_have_labels_with_their_counts(opened, write_splat, write_box):
    with serve(port=0) as server:
        draw(server, [opened(write_splat()), opened(write_box())], aspect=1.5)
        handles = server.scene._handle_from_node_name
        texts = [handles[f"/shown/label{number}"].text for number in (0, 1)]
        labels = handles["/shown/1"].position[0] - handles["/shown/0"].position[0]

    assert texts == ["ball.ply: 400 Gaussians", "box.glb: 8 vertices, 12 faces"]
    assert numpy.isfinite(labels)
    assert labels > 1
