"""Artifacts to draw, and the Chromium of this test run."""

from __future__ import annotations

from pathlib import Path

import numpy
import plyfile
import pytest
import trimesh
from browser import shared_browser

from rocm3d.artifact.inspection import inspect_file
from rocm3d.viewer.open import load_shape

PROPERTIES = (
    *("x", "y", "z", "f_dc_0", "f_dc_1", "f_dc_2", "opacity"),
    *("scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"),
)


def ball(count: int = 400, **values: float) -> numpy.ndarray:
    """Red Gaussians on a unit sphere, as trainers write them; keywords set a property to one value."""
    rows = numpy.zeros(count, dtype=[(name, "f4") for name in PROPERTIES])
    places = numpy.random.default_rng(0).normal(size=(count, 3))
    places /= numpy.linalg.norm(places, axis=1, keepdims=True)
    for name, column in zip("xyz", places.T, strict=True):
        rows[name] = column
    rows["f_dc_0"], rows["f_dc_1"], rows["f_dc_2"] = 1.6, -1.6, -1.6
    rows["opacity"], rows["rot_0"] = 4.0, 1.0
    for axis in range(3):
        rows[f"scale_{axis}"] = numpy.log(0.12)
    for name, value in values.items():
        rows[name] = value
    return rows


@pytest.fixture(autouse=True)
def _checks_in_this_process(monkeypatch):
    """Checks run in this process, for speed; tests/cli/test_view.py uses subprocesses."""
    for name in ("open", "source"):
        monkeypatch.setattr(f"rocm3d.viewer.{name}.check", inspect_file)
    monkeypatch.setattr("rocm3d.viewer.source.check_all", lambda paths: [inspect_file(path) for path in paths])


@pytest.fixture(name="ball")
def _ball():
    return ball


@pytest.fixture
def write_splat(tmp_path):
    """A PLY of Gaussians."""

    def write(name: str = "ball.ply", rows: numpy.ndarray | None = None) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        element = plyfile.PlyElement.describe(ball() if rows is None else rows, "vertex")
        plyfile.PlyData([element]).write(str(path))
        return path

    return write


@pytest.fixture
def write_box(tmp_path):
    """A box of one colour; the suffix of the name selects the format."""

    def write(name: str = "box.glb", colour: tuple[int, int, int, int] | None = (30, 60, 200, 255)) -> Path:
        box = trimesh.creation.box()
        if colour is not None:
            box.visual.vertex_colors = numpy.tile(numpy.array(colour, dtype=numpy.uint8), (len(box.vertices), 1))
        box.export(tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture
def write_cloud(tmp_path):
    """A green point cloud as a PLY."""

    def write(name: str = "cloud.ply", count: int = 2000) -> Path:
        points = numpy.random.default_rng(1).normal(size=(count, 3))
        colours = numpy.tile(numpy.array([20, 160, 40, 255], dtype=numpy.uint8), (count, 1))
        trimesh.PointCloud(points, colors=colours).export(tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture
def opened():
    """Loads a shape from a file."""
    return load_shape


@pytest.fixture(scope="session")
def browser(request):
    """For tests with the marks of tests/support/browser.py."""
    return shared_browser(request.config)
