"""Renders a small scene with a real Blender and checks the image. Part of `make test-full`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy
import plyfile
import pytest
import trimesh
from PIL import Image

from rocm3d.viewer import blender
from rocm3d.viewer.open import load_shape

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.full


@pytest.fixture(scope="session")
def blender_python():
    """A separate interpreter that has bpy; wheels exist only for some Python versions."""
    interpreter = Path(os.environ.get("ROCM3D_TEST_BLENDER") or ROOT / ".venv-blender" / "bin" / "python")
    if (
        not interpreter.is_file()
        or subprocess.run([interpreter, "-c", "import bpy"], check=False, capture_output=True).returncode
    ):
        pytest.skip(
            f"not run: {interpreter} has no bpy; `make .venv-blender/installed` makes it, where there is a wheel"
        )
    return interpreter


def splat(folder: Path) -> Path:
    """A red ball of Gaussians."""
    names = ("x", "y", "z", "f_dc_0", "f_dc_1", "f_dc_2", "opacity", "scale_0", "scale_1", "scale_2",
             "rot_0", "rot_1", "rot_2", "rot_3")  # fmt: skip
    rows = numpy.zeros(500, dtype=[(name, "f4") for name in names])
    places = numpy.random.default_rng(0).normal(size=(500, 3))
    for name, column in zip("xyz", (places / numpy.linalg.norm(places, axis=1, keepdims=True)).T, strict=True):
        rows[name] = column
    rows["f_dc_0"], rows["f_dc_1"], rows["f_dc_2"], rows["opacity"], rows["rot_0"] = 1.6, -1.6, -1.6, 4, 1
    for axis in range(3):
        rows[f"scale_{axis}"] = numpy.log(0.12)
    plyfile.PlyData([plyfile.PlyElement.describe(rows, "vertex")]).write(str(folder / "ball.ply"))
    return folder / "ball.ply"


def box(folder: Path) -> Path:
    """A blue box with a texture."""
    mesh = trimesh.creation.box()
    image = Image.new("RGB", (8, 8), (20, 40, 220))
    image.putpixel((0, 0), (20, 40, 200))
    material = trimesh.visual.material.PBRMaterial(baseColorTexture=image, metallicFactor=0.0)
    mesh.visual = trimesh.visual.TextureVisuals(uv=mesh.vertices[:, :2] + 0.5, material=material)
    mesh.export(folder / "box.glb")
    return folder / "box.glb"


def test_splat_and_mesh_are_rendered_side_by_side(blender_python, tmp_path):
    shapes = [load_shape(splat(tmp_path)), load_shape(box(tmp_path))]

    done = blender.write(shapes, tmp_path / "a.blend", (128, 64), blender_python, tmp_path / "a.png")

    assert [item["as"] for item in done["items"]] == ["ellipsoids", "mesh"]
    assert done["items"][0]["instances"] == 500
    assert done["items"][1]["faces"] == 12
    # Depends on whether the machine has an AMD GPU.
    assert done["device"] == ("HIP" if done["devices"] else "CPU")
    image = numpy.asarray(Image.open(tmp_path / "a.png").convert("RGBA")).astype(int)
    left, right = image[:, :64], image[:, 64:]
    red = (left[..., 3] > 128) & (left[..., 0] > 150) & (left[..., 1] < 100)
    blue = (right[..., 3] > 128) & (right[..., 2] > right[..., 0] + 40)
    assert red.sum() > 300
    assert blue.sum() > 300
    assert image[0, :, 3].max() == 0


def test_the_scene_opens_again_with_its_textures_camera_and_engine(blender_python, tmp_path):
    blender.write([load_shape(box(tmp_path))], tmp_path / "a.blend", (64, 48), blender_python)
    code = (
        f"import bpy; bpy.ops.wm.open_mainfile(filepath={str(tmp_path / 'a.blend')!r}); s = bpy.context.scene; "
        "print(s.render.engine, s.camera.name, s.render.resolution_x, s.cycles.device, "
        "all(i.packed_file for i in bpy.data.images if i.type == 'IMAGE'), "
        "len([i for i in bpy.data.images if i.type == 'IMAGE']))"
    )

    printed = subprocess.run([blender_python, "-c", code], check=True, capture_output=True, text=True).stdout

    assert printed.splitlines()[-1].split()[:3] == ["CYCLES", "camera", "64"]
    assert printed.splitlines()[-1].split()[4:] == ["True", "1"]
