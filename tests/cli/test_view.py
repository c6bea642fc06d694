"""rocm3d view: refusals with exit codes, a screenshot, and the page until Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request

import numpy
import plyfile
import pytest
import trimesh
from browser import drives_browser
from PIL import Image
from processes import Program
from waiting import DEADLINE, next_line, output_of

PROGRAM = [sys.executable, "-c", "from rocm3d.cli.main import main; main()", "view"]


@pytest.fixture
def box(tmp_path):
    trimesh.creation.box().export(tmp_path / "box.glb")
    return tmp_path / "box.glb"


@pytest.fixture
def poisoned(tmp_path):
    names = ("x", "y", "z", "opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3")
    rows = numpy.full(7, numpy.nan, dtype=[(name, "f4") for name in names])
    plyfile.PlyData([plyfile.PlyElement.describe(rows, "vertex")]).write(str(tmp_path / "nan.ply"))
    return tmp_path / "nan.ply"


def test_file_without_content_is_one_line(rocm3d, poisoned):
    ended = rocm3d("view", poisoned, "--screenshot", "a.png")

    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"rocm3d: {poisoned}: all 7 Gaussians hold NaN or infinity\n"


@pytest.mark.parametrize("size", ["0x0", "1280", "9999x9999", "axb"])
def test_invalid_size_is_refused(rocm3d, box, size):
    ended = rocm3d("view", box, "--size", size)

    assert ended.code == 2
    assert f"--size {size!r} is invalid" in ended.err


def test_invalid_axis_is_refused(rocm3d, box):
    assert rocm3d("view", box, "--up", "w").code == 2


def test_missing_extra_is_named(box, tmp_path):
    """A folder at the front of the path makes the import of viser fail."""
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "viser.py").write_text("raise ImportError('no', name='viser')\n")

    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "first")}
    with Program([*PROGRAM, box], stderr=subprocess.PIPE, text=True, env=environment) as process:
        _, err = output_of(process)

    assert process.returncode == 4
    assert err == (
        'rocm3d: viser is not installed; rocm3d needs it to show artifacts\n  hint: pip install "rocm3d[view]"\n'
    )


def test_screenshot_without_chromium_is_refused(rocm3d, box, tmp_path):
    ended = rocm3d("view", box, "--screenshot", tmp_path / "a.png", "--quiet", env={"PATH": str(tmp_path)})

    assert ended.code == 4
    assert ended.err.splitlines()[0] == "rocm3d: --screenshot needs Chromium, which is not installed"
    assert not (tmp_path / "a.png").exists()


def test_scene_without_blender_is_refused(rocm3d, box, tmp_path):
    ended = rocm3d("view", box, "--blender", tmp_path / "a.blend", "--quiet", env={"PATH": str(tmp_path)})

    assert ended.code == 4
    assert ended.err.splitlines()[0] == "rocm3d: neither bpy nor Blender is installed"


@drives_browser
def test_image_has_the_requested_size(rocm3d, box, tmp_path):
    ended = rocm3d("view", box, "--screenshot", tmp_path / "a.png", "--size", "200x120", "--up", "-y")

    assert (ended.code, ended.out) == (0, "")
    assert ended.err.splitlines() == [f"{box}: 8 vertices, 12 faces", str(tmp_path / "a.png")]
    image = numpy.asarray(Image.open(tmp_path / "a.png")).astype(int)
    assert image.shape == (120, 200, 3)
    assert (numpy.abs(image - image[0, 0]).max(axis=2) > 20).mean() > 0.05


def test_a_page_is_served_until_ctrl_c(box, tmp_path):
    environment = {**os.environ, "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    pipe = subprocess.PIPE
    with Program([*PROGRAM, box, "--no-open"], stderr=pipe, stdout=pipe, text=True, env=environment) as serving:
        address = next_line(serving).strip()
        with urllib.request.urlopen(address, timeout=DEADLINE) as answer:
            page = answer.read()
        serving.send_signal(signal.SIGINT)
        out, rest = output_of(serving)

    assert address.startswith("http://127.0.0.1:")
    assert b"<html" in page.lower()
    assert (serving.returncode, out) == (0, "")
    assert rest.splitlines() == [
        f"{box}: 8 vertices, 12 faces; assuming +y is up (change it with --up)",
        "open this address in a browser; stop with Ctrl-C",
        "stopped",
    ]
