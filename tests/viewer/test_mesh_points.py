"""Point clouds from several formats."""

from __future__ import annotations

import numpy
import pytest
import trimesh

from rocm3d.artifact.artifact_report import InvalidArtifactError
from rocm3d.viewer.mesh import read_points


def test_nothing_finite_is_refused(tmp_path):
    numpy.savez(tmp_path / "a.npz", points=numpy.full((4, 3), numpy.nan))

    with pytest.raises(InvalidArtifactError, match="no finite points"):
        read_points(tmp_path / "a.npz", 10)


def test_a_ply_has_its_colours(write_cloud):
    cloud, notes = read_points(write_cloud(count=50), 1000)

    assert (len(cloud.points), notes) == (50, [])
    assert cloud.colours[7].tolist() == [20, 160, 40]


def test_an_archive_has_points_and_colours_as_shares(tmp_path):
    points = numpy.arange(12.0).reshape(2, 2, 3)
    numpy.savez(tmp_path / "a.npz", pts3d=points, colors=numpy.full((2, 2, 3), 0.5), confidence=numpy.ones((2, 2)))

    cloud, _ = read_points(tmp_path / "a.npz", 1000)

    assert cloud.points.tolist() == points.reshape(-1, 3).tolist()
    assert cloud.colours[0].tolist() == [127, 127, 127]


def test_points_without_colour_are_ink_and_broken_ones_are_left_out(tmp_path):
    points = numpy.zeros((5, 3))
    points[1, 2] = numpy.inf
    numpy.savez(tmp_path / "a.npz", xyz=points)

    cloud, _ = read_points(tmp_path / "a.npz", 1000)

    assert len(cloud.points) == len(cloud.colours) == 4
    assert len({tuple(row) for row in cloud.colours.tolist()}) == 1


def test_many_are_drawn_in_part_and_reported(write_cloud):
    cloud, notes = read_points(write_cloud(count=500), 20)

    assert len(cloud.points) == len(cloud.colours) == 20
    assert notes == ["20 of 500 points are drawn (random sample)"]


def test_points_of_a_glb_are_where_the_scene_puts_them(tmp_path):
    scene = trimesh.Scene()
    scene.add_geometry(
        trimesh.PointCloud(numpy.eye(3)), transform=trimesh.transformations.translation_matrix([10, 0, 0])
    )
    scene.export(tmp_path / "a.glb")

    cloud, _ = read_points(tmp_path / "a.glb", 1000)

    assert sorted(cloud.points.tolist()) == [[10, 0, 0 + 1.0], [10, 1, 0], [11, 0, 0]]
