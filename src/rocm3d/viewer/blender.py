"""Writes a Blender scene with the shapes, a camera, lights, and Cycles configured."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from rocm3d.model.errors import MachineError
from rocm3d.viewer.layout import arrange, camera_axes, frame_camera
from rocm3d.viewer.shape import Splats, Surface
from rocm3d.viewer.stage import point_size, refuse_missing_folder, short_names
from rocm3d.workspace.process import run, scratch_folder
from rocm3d.workspace.programs import find_program

if TYPE_CHECKING:
    from rocm3d.artifact.artifact_report import Array
    from rocm3d.viewer.layout import Pose
    from rocm3d.viewer.shape import PointCloud, Shape

PAYLOAD = Path(__file__).parents[1] / "payload" / "blender_scene.py"
RESULT_PREFIX = "rocm3d-scene "
TIMEOUT_SECONDS = 600.0
# The name that Cycles uses for AMD GPUs; without one it renders on the CPU.
DEVICE_KINDS = ("HIP",)
# Limit of ellipsoids in a scene, their size in standard deviations, and the minimum opacity to be drawn.
MAX_ELLIPSOIDS, _ELLIPSOID_SIZE, _MIN_OPACITY = 300_000, 1.5, 0.1


def write(
    shapes: list[Shape], out: Path, size: tuple[int, int], python: Path | None = None, render: Path | None = None
) -> dict[str, Any]:
    """Write the scene, and render it to `render` if set. Returns the JSON result of the Blender process."""
    command = _command(python)
    refuse_missing_folder("--blender", out)
    with scratch_folder() as folder:
        request = {**_request(shapes, size, folder), "out": str(out.resolve())}
        if render is not None:
            request |= {"render": str(render.resolve()), "samples": 8}
        request_path = folder / "request.json"
        request_path.write_text(json.dumps(request), encoding="utf-8")
        completed = run([*command, str(request_path)], seconds=TIMEOUT_SECONDS)
    return _parse_result(completed.code, completed.stdout, completed.stderr)


def summary_lines(result: dict[str, Any]) -> list[str]:
    """Which Blender and device were used, and how Gaussians are approximated."""
    devices = f" ({', '.join(result['devices'])})" if result["devices"] else ": no AMD GPU found"
    lines = [f"Blender {result['blender']}, Cycles on {result['device']}{devices}"]
    if any(item["as"] == "ellipsoids" for item in result["items"]):
        lines.append(
            f"Gaussians are drawn as opaque ellipsoids of {_ELLIPSOID_SIZE} standard deviations; "
            f"those below {_MIN_OPACITY:.0%} opacity "
            "are left out. Points are spheres."
        )
    return lines


def _command(python: Path | None) -> list[str]:
    if python is not None:
        return [str(python), "-I", str(PAYLOAD)]
    if importlib.util.find_spec("bpy") is not None:
        return [sys.executable, "-I", str(PAYLOAD)]
    blender = find_program("blender")
    if blender is None:
        raise MachineError(
            "neither bpy nor Blender is installed",
            hint='pip install "rocm3d[blender]", install Blender, or pass a Python that has bpy with --python',
        )
    return [blender, "--background", "--factory-startup", "--python-exit-code", "1", "--python", str(PAYLOAD), "--"]


def _request(shapes: list[Shape], size: tuple[int, int], folder: Path) -> dict[str, Any]:
    poses, _ = arrange(shapes)
    camera = frame_camera(shapes, poses, size[0] / size[1])
    labels = short_names([shape.path for shape in shapes])
    items = [
        _shape_entry(shape, pose, name, folder / str(number))
        for number, (shape, pose, name) in enumerate(zip(shapes, poses, labels, strict=True))
    ]
    return {
        "items": items,
        "camera": {
            "position": camera.position.tolist(),
            "rotation": numpy.stack(camera_axes(), axis=1).tolist(),
            "field": camera.field,
        },
        "size": list(size),
        "kinds": list(DEVICE_KINDS),
    }


def _shape_entry(shape: Shape, pose: Pose, name: str, stem: Path) -> dict[str, Any]:
    matrix = numpy.eye(4)
    matrix[:3, :3] = pose.rotation * pose.scale
    matrix[:3, 3] = pose.offset - pose.rotation @ (pose.centre * pose.scale)
    if isinstance(shape.content, Surface):
        kind, file = "mesh", stem.with_suffix(".glb")
        file.write_bytes(shape.content.glb)
    else:
        kind, file = "points", stem.with_suffix(".npz")
        numpy.savez(file, allow_pickle=False, **_ellipsoids(shape.content, pose))
    return {"name": name, "matrix": matrix.tolist(), "kind": kind, "file": str(file)}


def _ellipsoids(form: Splats | PointCloud, pose: Pose) -> dict[str, Array]:
    """Centres, sizes, quaternions (w, x, y, z) and RGBA colours in linear space, as Blender expects."""
    if isinstance(form, Splats):
        visible = form.opacities >= min(_MIN_OPACITY, float(form.opacities.max()))
        centres, colours = form.centres[visible], form.colours[visible]
        sizes, turns = form.scales[visible] * _ELLIPSOID_SIZE, form.rotations[visible]
    else:
        centres, colours = form.points, form.colours
        sizes = numpy.full((len(centres), 3), point_size(len(centres)) / 2 / pose.scale)
        turns = numpy.tile([1.0, 0.0, 0.0, 0.0], (len(centres), 1))
    linear = (colours / 255.0) ** 2.2
    shade = numpy.concatenate([linear, numpy.ones((len(linear), 1))], axis=1)
    return {"centres": centres, "size": sizes, "turn": turns, "shade": shade}


def _parse_result(exit_code: int | None, out: bytes, err: bytes) -> dict[str, Any]:
    for line in reversed(out.decode("utf-8", "replace").splitlines()):
        if line.startswith(RESULT_PREFIX):
            result: dict[str, Any] = json.loads(line.removeprefix(RESULT_PREFIX))
            return result
    messages = [line for line in (err + b"\n" + out).decode("utf-8", "replace").splitlines() if line.strip()]
    last = next((line for line in messages if "Error" in line), messages[-1] if messages else "")
    if "No module named 'bpy'" in last:
        raise MachineError("this Python has no bpy", hint="pip install bpy, in a separate environment")
    why = f"exceeded the limit of {TIMEOUT_SECONDS:g} s" if exit_code is None else f"exited with code {exit_code}"
    raise MachineError(f"Blender {why} and wrote no scene", hint=last.strip()[:200])
