"""Undrawable files are refused with the reason of their check; drawable ones with problems are shown with notes."""

from __future__ import annotations

import sys

import numpy
import pytest
import trimesh

from rocm3d.artifact.check import check
from rocm3d.artifact.inspection import inspect_file
from rocm3d.model.errors import MachineError, UserError
from rocm3d.viewer.open import guess_up_axis, is_drawable, load_shape, require_packages
from rocm3d.viewer.shape import PointCloud, Splats, Surface


def test_what_is_missing_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"a\.ply does not exist"):
        load_shape(tmp_path / "a.ply")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"x": numpy.nan}, "all 20 Gaussians hold NaN or infinity"),
        ({"opacity": -20.0}, "invisible: all 20 Gaussians are transparent"),
        ({"x": 0.0, "y": 0.0, "z": 0.0}, "collapsed: all Gaussians are in one place"),
    ],
)
def test_splats_that_show_nothing(write_splat, ball, values, reason):
    path = write_splat(rows=ball(20, **values))

    with pytest.raises(UserError) as refused:
        load_shape(path)

    assert refused.value.message == f"{path}: {inspect_file(path).reason}" == f"{path}: {reason}"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.ply", b"", "empty: 0 bytes"),
        ("a.glb", b"ply\nformat ascii 1.0\n", "wrong extension: a PLY"),
        ("a.obj", b"\x89PNG\r\n\x1a\n", "wrong extension: a PNG"),
        ("a.txt", b"hello", "unknown file type; the content is not recognised"),
    ],
)
def test_files_that_are_something_else(tmp_path, name, data, reason):
    (tmp_path / name).write_bytes(data)

    with pytest.raises(UserError) as refused:
        load_shape(tmp_path / name)

    assert refused.value.message == f"{tmp_path / name}: {reason}"


def test_an_empty_mesh(tmp_path):
    trimesh.Trimesh([[0, 0, 0], [1, 0, 0]], numpy.zeros((0, 3), dtype=int)).export(tmp_path / "a.ply")

    with pytest.raises(UserError, match=r"no faces|empty"):
        load_shape(tmp_path / "a.ply")


def test_an_image_is_no_shape(tmp_path):
    from PIL import Image

    Image.fromarray(numpy.arange(192, dtype=numpy.uint8).reshape(8, 8, 3)).save(tmp_path / "a.png")

    with pytest.raises(UserError, match="is not a splat, mesh or point cloud"):
        load_shape(tmp_path / "a.png")


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)

    with pytest.raises(MachineError) as error:
        require_packages()

    assert error.value.message == "viser is not installed; rocm3d needs it to show artifacts"
    assert error.value.hint == 'pip install "rocm3d[view]"'


def test_a_file_is_checked_in_a_process_of_its_own(write_splat, monkeypatch):
    monkeypatch.setattr("rocm3d.viewer.open.check", check)

    assert load_shape(write_splat()).counts_text == "400 Gaussians"


def test_a_splat_with_a_few_broken_gaussians_is_shown_and_reported(write_splat, ball):
    rows = ball(20)
    rows["x"][:3] = numpy.nan

    opened = load_shape(write_splat(rows=rows))

    assert isinstance(opened.content, Splats)
    assert len(opened.content.centres) == 17
    assert opened.notes == ("3 of 20 Gaussians hold NaN or infinity",)
    assert opened.counts == {"Gaussians": 20}


def test_each_kind_is_read_as_what_it_is(write_splat, write_box, write_cloud):
    splat, mesh, points = load_shape(write_splat()), load_shape(write_box("a.glb")), load_shape(write_cloud())

    assert isinstance(splat.content, Splats)
    assert isinstance(mesh.content, Surface)
    assert isinstance(points.content, PointCloud)
    assert (splat.counts_text, points.counts_text) == ("400 Gaussians", "2,000 points")
    assert mesh.counts == {"vertices": 8, "faces": 12}


def test_up_is_guessed_by_custom_and_can_be_set(write_splat, write_box):
    glb, ply, splat = (
        inspect_file(write_box("a.glb")),
        inspect_file(write_box("a.ply")),
        inspect_file(write_splat("s.ply")),
    )

    assert [guess_up_axis(entry) for entry in (glb, ply, splat)] == ["+y", "+z", "-y"]
    assert load_shape(write_box("a.glb"), up="-x").up == "-x"
    assert all(is_drawable(entry) for entry in (glb, ply, splat))
