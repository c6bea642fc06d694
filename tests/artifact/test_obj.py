from __future__ import annotations

import pytest
from PIL import Image

from rocm3d.artifact import obj
from rocm3d.artifact.artifact_report import InvalidArtifactError


@pytest.fixture
def inspect_text(tmp_path):
    def write_and_inspect(text: str):
        (tmp_path / "a.obj").write_text(text)
        return obj.inspect(tmp_path / "a.obj")

    return write_and_inspect


TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# nothing\n", "empty: no vertices and no faces"),
        ("f 1 2 3\n", "a face refers to vertex 3 of 0"),
        ("v 0 0 0\nv 1 0 0\nf 1/1 2/1 9/1\n", "a face refers to vertex 9 of 2"),
    ],
)
def test_meshes_that_are_none(inspect_text, text, reason):
    with pytest.raises(InvalidArtifactError, match=reason):
        inspect_text(text)


def test_nan(inspect_text):
    assert inspect_text(TRIANGLE.replace("v 0 0 0", "v nan 0 0")).problems[0] == "1 of 3 vertices hold NaN or infinity"


def test_materials_that_do_not_exist(inspect_text):
    assert inspect_text(f"mtllib a.mtl\n{TRIANGLE}").problems == ["missing material files: a.mtl"]


@pytest.mark.parametrize("name", ["../outside.png", "/etc/hostname", "..\\outside.png", "x" * 5000])
def test_no_name_leads_out_of_the_folder(tmp_path, inspect_text, name):
    (tmp_path.parent / "outside.png").write_bytes(b"secret")
    (tmp_path / "a.mtl").write_text(f"newmtl m\nmap_Kd {name}\n")

    assert [problem[-10:] for problem in inspect_text(f"mtllib a.mtl\n{TRIANGLE}").problems] == ["is missing"]


def test_a_texture_of_one_colour(write_mesh):
    report = obj.inspect(write_mesh("a.obj", Image.new("RGB", (32, 32), "gray")))

    assert report.problems == ["constant texture: only one colour in material_0.png"]


def test_textures_in_a_folder_below(tmp_path, inspect_text, noise):
    (tmp_path / "maps").mkdir()
    Image.fromarray(noise()).save(tmp_path / "maps" / "a.png")
    (tmp_path / "a.mtl").write_text("newmtl m\nmap_Kd maps/a.png\n")

    report = inspect_text(f"mtllib a.mtl\n{TRIANGLE}")

    assert (report.problems, report.metrics["textures"]) == ([], 1)


def test_a_sound_mesh(write_mesh, noise):
    report = obj.inspect(write_mesh("a.obj", Image.fromarray(noise())))

    assert (report.kind, report.problems) == ("mesh", [])
    assert (report.metrics["vertices"], report.metrics["faces"], report.metrics["textures"]) == (8, 12, 1)


def test_points_alone(inspect_text):
    assert inspect_text("v 0 0 0\nv 1 0 0\n").metrics["points"] == 2
