from __future__ import annotations

import pytest
from PIL import Image

from rocm3d.artifact import obj
from rocm3d.artifact.sight import Unfit


@pytest.fixture
def seen(tmp_path):
    def look(text: str):
        (tmp_path / "a.obj").write_text(text)
        return obj.look(tmp_path / "a.obj")

    return look


TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# nothing\n", "empty: no vertices and no faces"),
        ("f 1 2 3\n", "a face refers to vertex 3 of 0"),
        ("v 0 0 0\nv 1 0 0\nf 1/1 2/1 9/1\n", "a face refers to vertex 9 of 2"),
    ],
)
def test_meshes_that_are_none(seen, text, reason):
    with pytest.raises(Unfit, match=reason):
        seen(text)


def test_nan(seen):
    assert seen(TRIANGLE.replace("v 0 0 0", "v nan 0 0")).problems[0] == "1 of 3 vertices hold NaN or infinity"


def test_materials_that_are_not_there(seen):
    assert seen(f"mtllib a.mtl\n{TRIANGLE}").problems == ["missing material files: a.mtl"]


@pytest.mark.parametrize("name", ["../outside.png", "/etc/hostname", "..\\outside.png", "x" * 5000])
def test_no_name_leads_out_of_the_folder(tmp_path, seen, name):
    (tmp_path.parent / "outside.png").write_bytes(b"secret")
    (tmp_path / "a.mtl").write_text(f"newmtl m\nmap_Kd {name}\n")

    assert [problem[-10:] for problem in seen(f"mtllib a.mtl\n{TRIANGLE}").problems] == ["is missing"]


def test_a_texture_of_one_colour(write_mesh):
    sight = obj.look(write_mesh("a.obj", Image.new("RGB", (32, 32), "gray")))

    assert sight.problems == ["constant texture: only one colour in material_0.png"]


def test_textures_in_a_folder_below(tmp_path, seen, noise):
    (tmp_path / "maps").mkdir()
    Image.fromarray(noise()).save(tmp_path / "maps" / "a.png")
    (tmp_path / "a.mtl").write_text("newmtl m\nmap_Kd maps/a.png\n")

    sight = seen(f"mtllib a.mtl\n{TRIANGLE}")

    assert (sight.problems, sight.metrics["textures"]) == ([], 1)


def test_a_sound_mesh(write_mesh, noise):
    sight = obj.look(write_mesh("a.obj", Image.fromarray(noise())))

    assert (sight.kind, sight.problems) == ("mesh", [])
    assert (sight.metrics["vertices"], sight.metrics["faces"], sight.metrics["textures"]) == (8, 12, 1)


def test_points_alone(seen):
    assert seen("v 0 0 0\nv 1 0 0\n").metrics["points"] == 2
