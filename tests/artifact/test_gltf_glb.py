from __future__ import annotations

import pytest
from PIL import Image

from rocm3d.artifact import gltf
from rocm3d.artifact.artifact_report import InvalidArtifactError, UnreadableArtifactError

ASSET = {"asset": {"version": "2.0"}}


def test_an_empty_glb(write_glb):
    report = gltf.inspect_glb(write_glb({**ASSET, "scenes": [{}]}))

    assert (report.problems, report.metrics["vertices"]) == (["empty: no meshes"], 0)


def test_a_cut_glb_is_truncated(write_mesh):
    path = write_mesh("a.glb")
    content = path.read_bytes()
    path.write_bytes(content[:-10])

    with pytest.raises(InvalidArtifactError, match=r"truncated: the file has [0-9,]+ of [0-9,]+ bytes"):
        gltf.inspect_glb(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"glTF\x02\0\0\0", "the header is incomplete"),
        (b"glTF\x02\0\0\0\x14\0\0\0\0\0\0\0BIN\0", "the first chunk is not JSON"),
        (b"glTF\x02\0\0\0\x14\0\0\0\xff\xff\xff\xffJSON", "the first chunk is not JSON"),
        (b"glTF\x02\0\0\0\x18\0\0\0\x04\0\0\0JSON{[[[", "invalid JSON"),
        (b"glTF\x02\0\0\0\x18\0\0\0\x04\0\0\0JSON[]  ", "is not an object"),
    ],
)
def test_containers_that_are_refused(tmp_path, content, reason):
    (tmp_path / "a.glb").write_bytes(content)

    with pytest.raises(InvalidArtifactError, match=reason):
        gltf.inspect_glb(tmp_path / "a.glb")


def test_an_old_version_is_not_read(tmp_path):
    (tmp_path / "a.glb").write_bytes(b"glTF\x01\0\0\0\x14\0\0\0\0\0\0\0JSON")

    with pytest.raises(UnreadableArtifactError, match="glTF 1 is not supported"):
        gltf.inspect_glb(tmp_path / "a.glb")


@pytest.mark.parametrize("name", ["KHR_draco_mesh_compression", "EXT_meshopt_compression"])
def test_packed_geometry_is_not_called_empty(write_glb, name):
    with pytest.raises(UnreadableArtifactError, match=f"compressed with {name}"):
        gltf.inspect_glb(write_glb({**ASSET, "extensionsUsed": [name], "meshes": [{}]}))


@pytest.mark.parametrize("accessor", [{"count": 10**12}, {"count": -1}, {"count": "many"}, 7])
def test_promises_without_data(write_glb, accessor):
    with pytest.raises(InvalidArtifactError, match="damaged: an accessor"):
        gltf.inspect_glb(write_glb({**ASSET, "meshes": [{}], "accessors": [accessor]}))


def test_lists_that_are_none(write_glb):
    with pytest.raises(InvalidArtifactError, match="meshes is not a list"):
        gltf.inspect_glb(write_glb({**ASSET, "meshes": {}}))


def test_a_texture_of_one_colour(write_mesh):
    report = gltf.inspect_glb(write_mesh("a.glb", Image.new("RGB", (32, 32), "gray")))

    assert report.problems == ["constant texture: only one colour in 0"]


def test_a_texture_outside_of_the_file_is_missing(write_glb, write_mesh):
    tree, binary = gltf._read_chunks(write_mesh("a.glb"))
    tree["images"] = [{"uri": "../../etc/passwd"}]

    assert gltf.inspect_glb(write_glb(tree, binary, "b.glb")).problems == ["texture 0 is missing"]


def test_a_sound_mesh(write_mesh, noise):
    report = gltf.inspect_glb(write_mesh("a.glb", Image.fromarray(noise())))

    assert (report.kind, report.problems) == ("mesh", [])
    expected = {"vertices": 8, "faces": 12, "watertight": 1, "textures": 1, "constant_textures": 0, "degenerate": 0}
    assert {key: report.metrics[key] for key in expected} == expected


def test_points_in_a_glb(tmp_path, cube):
    import trimesh

    trimesh.Scene(trimesh.PointCloud(cube[0])).export(tmp_path / "a.glb")

    assert gltf.inspect_glb(tmp_path / "a.glb").metrics["points"] == 8
