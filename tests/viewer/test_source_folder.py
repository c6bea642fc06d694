"""Which files of a folder are drawable, and in which order."""

from __future__ import annotations

import os
from pathlib import Path

import numpy
import pytest

from rocm3d.model.errors import UserError
from rocm3d.viewer.source import find_drawable, with_name_of


def test_a_folder_with_nothing_to_see_is_refused_with_the_reasons(tmp_path, write_splat, ball):
    write_splat(rows=ball(5, x=numpy.nan))
    (tmp_path / "notes.txt").write_text("hello")

    with pytest.raises(UserError, match="has no splat, mesh or point cloud") as refused:
        find_drawable(tmp_path)

    assert refused.value.hint == "ball.ply: all 5 Gaussians hold NaN or infinity"


def test_splats_come_before_meshes_before_points_and_faults_come_last(
    tmp_path, write_splat, write_box, write_cloud, ball
):
    broken = ball(9)
    broken["x"][0] = numpy.nan
    write_splat("faulty.ply", broken)
    write_cloud("points.ply")
    write_box("mesh.glb")
    write_splat("deep/splat.ply")
    numpy.savez(tmp_path / "numbers.npz", scores=numpy.ones(4))

    names = [Path(entry.path).name for entry in find_drawable(tmp_path)]

    assert names == ["splat.ply", "mesh.glb", "points.ply", "faulty.ply"]


def test_newer_before_older(tmp_path, write_splat):
    for name, age in (("b.ply", 300), ("c.ply", 100), ("a.ply", 200)):
        os.utime(write_splat(name), (1e9 - age, 1e9 - age))

    assert [Path(entry.path).name for entry in find_drawable(tmp_path)] == ["c.ply", "a.ply", "b.ply"]


def test_links_and_hidden_folders_are_not_followed(tmp_path, write_splat):
    shown = write_splat("runs/a.ply")
    write_splat("elsewhere/b.ply")
    write_splat("runs/.hidden/c.ply")
    (tmp_path / "runs" / "d.ply").symlink_to(tmp_path / "elsewhere" / "b.ply")
    (tmp_path / "runs" / "e").symlink_to(tmp_path / "elsewhere")

    assert [entry.path for entry in find_drawable(tmp_path / "runs")] == [str(shown)]


def test_the_one_with_the_same_name_is_chosen(tmp_path, write_splat):
    write_splat("a.ply")
    write_splat("b.ply")
    items = find_drawable(tmp_path)

    assert Path(with_name_of(items, "other/b.ply").path).name == "b.ply"
    assert with_name_of(items, "other/c.ply") is items[0]
