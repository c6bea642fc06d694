"""Meshes become one GLB that needs no other file."""

from __future__ import annotations

import io
import json
import struct

import numpy
import pytest
import trimesh
from PIL import Image

from rocm3d.artifact.artifact_report import InvalidArtifactError
from rocm3d.viewer.mesh import read, without_metal


def description(glb: bytes) -> dict:
    (length,) = struct.unpack_from("<I", glb, 12)
    return json.loads(glb[20 : 20 + length])


def textured(folder, name: str):
    """A square with a texture at the path `name`."""
    Image.fromarray(numpy.arange(192, dtype=numpy.uint8).reshape(8, 8, 3)).save(folder / name)
    (folder / "o" / "m.mtl").write_text(
        f"newmtl m\nmap_Kd {'../' if '/' not in name else ''}{name.rpartition('/')[2]}\n"
    )
    (folder / "o" / "a.obj").write_text(
        "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nusemtl m\nf 1/1 2/2 3/3\n"
    )
    return folder / "o" / "a.obj"


def test_a_mesh_whose_vertices_are_all_broken_is_refused(tmp_path):
    mesh = trimesh.Trimesh(numpy.full((3, 3), numpy.nan), [[0, 1, 2]], process=False)
    mesh.export(tmp_path / "a.glb")

    with pytest.raises(InvalidArtifactError, match="no finite points"):
        read(tmp_path / "a.glb", has_nonfinite=True)


def test_a_texture_outside_the_folder_is_not_taken(tmp_path):
    (tmp_path / "o").mkdir()

    surface = read(textured(tmp_path, "secret.png"), has_nonfinite=False)

    assert "images" not in description(surface.glb)


def test_a_texture_in_its_folder_is_included(tmp_path):
    (tmp_path / "o").mkdir()

    surface = read(textured(tmp_path, "o/t.png"), has_nonfinite=False)

    assert len(description(surface.glb)["images"]) == 1
    assert b'"uri"' not in surface.glb


def test_a_glb_that_is_whole_stays_as_it_is(write_box):
    path = write_box("a.glb")

    assert read(path, has_nonfinite=False).glb == path.read_bytes()


def test_a_glb_that_names_other_files_is_written_anew(write_box, tmp_path):
    data = write_box("a.glb").read_bytes()
    tree = description(data)
    tree["images"] = [{"uri": "http://example.invalid/a.png"}]
    (length,) = struct.unpack_from("<I", data, 12)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text + data[20 + length :]
    (tmp_path / "b.glb").write_bytes(data[:8] + struct.pack("<I", 12 + len(body)) + body)

    assert b"example.invalid" not in read(tmp_path / "b.glb", has_nonfinite=False).glb


def test_a_gltf_takes_its_buffers_along(tmp_path):
    for name, data in trimesh.exchange.gltf.export_gltf(trimesh.Scene(trimesh.creation.box())).items():
        (tmp_path / name).write_bytes(data)

    surface = read(tmp_path / "model.gltf", has_nonfinite=False)

    assert len(surface.points) == 8
    assert surface.glb.startswith(b"glTF")
    assert b'"uri"' not in surface.glb


def test_faces_with_a_broken_corner_are_left_out(tmp_path):
    vertices = numpy.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [numpy.nan, 0, 0]], dtype=float)
    trimesh.Trimesh(vertices, [[0, 1, 2], [1, 2, 3]], process=False).export(tmp_path / "a.glb")

    surface = read(tmp_path / "a.glb", has_nonfinite=True)

    assert len(surface.points) == 3
    assert len(trimesh.load_mesh(io.BytesIO(surface.glb), file_type="glb").faces) == 1


@pytest.mark.parametrize("name", ["a.obj", "a.ply", "a.stl.ply"])
def test_a_mesh_without_colours_is_double_sided(write_box, name):
    (material,) = description(read(write_box(name, colour=None), has_nonfinite=False).glb)["materials"]

    assert material["doubleSided"] is True


def test_matte_has_no_metal_and_no_bare_part(write_box):
    glb = without_metal(read(write_box("a.glb", colour=None), has_nonfinite=False).glb)

    tree = description(glb)
    assert [entry["pbrMetallicRoughness"]["metallicFactor"] for entry in tree["materials"]] == [0.0]
    assert tree["meshes"][0]["primitives"][0]["material"] == 0
    assert struct.unpack_from("<I", glb, 8) == (len(glb),)
    assert len(trimesh.load_mesh(io.BytesIO(glb), file_type="glb").faces) == 12
