"""Requests to Blender and its results. Blender itself: tests/payload/test_blender_scene.py."""

from __future__ import annotations

import json
import sys

import numpy
import pytest

from rocm3d.model.errors import MachineError, UserError
from rocm3d.viewer import blender
from rocm3d.viewer.layout import arrange


def program(folder, code: str):
    """A fake for a Python with bpy; it receives -I, the script and the request."""
    path = folder / "python"
    path.write_text(f"#!{sys.executable}\nimport json, sys\nrequest = json.load(open(sys.argv[-1]))\n{code}\n")
    path.chmod(0o755)
    return path


def test_without_bpy_and_blender_one_line_is_printed(monkeypatch, tmp_path, write_box):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(MachineError, match="neither bpy nor Blender is installed") as error:
        blender.write([], tmp_path / "a.blend", (64, 64))

    assert 'pip install "rocm3d[blender]"' in error.value.hint


def test_a_python_without_bpy_is_called_that(opened, tmp_path, write_box):
    with pytest.raises(MachineError, match="this Python has no bpy"):
        blender.write([opened(write_box())], tmp_path / "a.blend", (64, 64), sys.executable)


def test_a_folder_that_does_not_exist_is_refused(opened, tmp_path, write_box):
    with pytest.raises(UserError, match="is not a folder"):
        blender.write([opened(write_box())], tmp_path / "no" / "a.blend", (64, 64), sys.executable)


def test_a_crash_is_reported_with_its_message(opened, tmp_path, write_box):
    path = program(tmp_path, "sys.exit('ValueError: it broke')")

    with pytest.raises(MachineError, match="exited with code 1 and wrote no scene") as error:
        blender.write([opened(write_box())], tmp_path / "a.blend", (64, 64), path)

    assert error.value.hint == "ValueError: it broke"


def test_the_request_puts_everything_where_the_page_does(opened, tmp_path, write_box, write_splat, ball):
    rows = ball(50)
    rows["opacity"][:5] = -8.0
    shapes = [opened(write_box()), opened(write_splat(rows=rows))]
    path = program(tmp_path, f"print({blender.RESULT_PREFIX!r} + json.dumps(request))")

    messages = blender.write(shapes, tmp_path / "a.blend", (640, 400), path)

    (box, splats), poses = messages["items"], arrange(shapes)[0]
    for entry, pose, complete in zip(messages["items"], poses, shapes, strict=True):
        points = complete.content.points
        placed = numpy.c_[points, numpy.ones(len(points))] @ numpy.array(entry["matrix"]).T
        assert placed[:, :3] == pytest.approx(pose.world(points))
    assert (box["kind"], splats["kind"]) == ("mesh", "points")
    assert (messages["kinds"], messages["size"]) == (["HIP"], [640, 400])
    assert messages["out"] == str(tmp_path / "a.blend")
    assert json.dumps(messages["camera"])


def test_gaussians_become_ellipsoids_and_those_nobody_sees_are_left_out(opened, write_splat, ball):
    rows = ball(50)
    rows["opacity"][:5] = -8.0
    complete = opened(write_splat(rows=rows))

    balls = blender._ellipsoids(complete.content, arrange([complete])[0][0])

    assert {name: part.shape for name, part in balls.items()} == {
        "centres": (45, 3), "size": (45, 3), "turn": (45, 4), "shade": (45, 4),
    }  # fmt: skip
    assert balls["size"] == pytest.approx(1.5 * 0.12)


def test_points_become_balls(opened, write_cloud):
    complete = opened(write_cloud())

    balls = blender._ellipsoids(complete.content, arrange([complete])[0][0])

    assert len(balls["centres"]) == 2000
    assert balls["shade"][0] == pytest.approx([(20 / 255) ** 2.2, (160 / 255) ** 2.2, (40 / 255) ** 2.2, 1])
    assert (balls["size"] > 0).all()


def test_the_processor_is_reported_as_such():
    done = {"blender": "x", "device": "CPU", "devices": [], "items": [{"as": "ellipsoids"}]}

    first, second = blender.summary_lines(done)

    assert first == "Blender x, Cycles on CPU: no AMD GPU found"
    assert second.startswith("Gaussians are drawn as opaque ellipsoids of 1.5 standard deviations")
