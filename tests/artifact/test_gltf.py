from __future__ import annotations

import base64
import io
import json

import pytest
from PIL import Image

from rocm3d.artifact import gltf
from rocm3d.artifact.artifact_report import InvalidArtifactError, UnreadableArtifactError


@pytest.fixture
def write_gltf(tmp_path, cube, noise):
    """The cube with a texture; `inside` puts buffer and picture into the file, `more` changes the description."""

    def write(*, inside: bool = False, **more):
        points, faces = cube[0].astype("<f4").tobytes(), cube[1].astype("<u2").tobytes()
        picture = io.BytesIO()
        Image.fromarray(noise()).save(picture, "PNG")
        places = {"mesh data.bin": points + faces, "colour.png": picture.getvalue()}
        names = {name: name.replace(" ", "%20") for name in places}
        for name, data in places.items():
            if inside:
                names[name] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
            else:
                (tmp_path / name).write_bytes(data)
        described = {
            "asset": {"version": "2.0"},
            "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
            "buffers": [{"byteLength": len(points + faces), "uri": names["mesh data.bin"]}],
            "bufferViews": [
                {"buffer": 0, "byteOffset": 0, "byteLength": len(points)},
                {"buffer": 0, "byteOffset": len(points), "byteLength": len(faces)},
            ],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"},
                {"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"},
            ],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
            "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
            "textures": [{"source": 0}],
            "images": [{"uri": names["colour.png"]}],
            **more,
        }  # fmt: skip
        (tmp_path / "a.gltf").write_text(json.dumps(described))
        return tmp_path / "a.gltf"

    return write


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"error": "not found"}', "JSON, but not glTF: the key `asset` is missing"),
        ("{[[[", "invalid JSON"),
        ("[]", "is not an object"),
    ],
)
def test_other_texts_are_called_what_they_are(tmp_path, text, reason):
    (tmp_path / "a.gltf").write_text(text)

    with pytest.raises(InvalidArtifactError, match=reason):
        gltf.inspect_gltf(tmp_path / "a.gltf")


def test_an_old_version_is_not_read(write_gltf):
    with pytest.raises(UnreadableArtifactError, match=r"glTF 1.0 is not supported"):
        gltf.inspect_gltf(write_gltf(asset={"version": "1.0"}))


def test_draco_is_named_and_not_called_broken(write_gltf):
    with pytest.raises(
        UnreadableArtifactError, match=r"KHR_draco_mesh_compression \(Draco\), which is not supported; it may be valid"
    ):
        gltf.inspect_gltf(write_gltf(extensionsUsed=["KHR_draco_mesh_compression"]))


@pytest.mark.parametrize(
    "uri", ["../a.bin", "/etc/passwd", "%2e%2e/a.bin", "..\\a.bin", "file:///etc/passwd", "no.bin"]
)
def test_a_buffer_elsewhere_is_missing(write_gltf, tmp_path, uri):
    (tmp_path.parent / "a.bin").write_bytes(b"\0" * 1000)

    with pytest.raises(InvalidArtifactError, match="buffer 0 is missing"):
        gltf.inspect_gltf(write_gltf(buffers=[{"byteLength": 168, "uri": uri}]))


def test_a_link_that_leads_out_is_not_followed(write_gltf, tmp_path):
    (tmp_path.parent / "out.bin").write_bytes(b"\0" * 1000)
    (tmp_path / "in.bin").symlink_to(tmp_path.parent / "out.bin")

    with pytest.raises(InvalidArtifactError, match="buffer 0 is missing"):
        gltf.inspect_gltf(write_gltf(buffers=[{"byteLength": 168, "uri": "in.bin"}]))


def test_a_cut_buffer_is_truncated(write_gltf, tmp_path):
    path = write_gltf()
    (tmp_path / "mesh data.bin").write_bytes((tmp_path / "mesh data.bin").read_bytes()[:-9])

    with pytest.raises(InvalidArtifactError, match="truncated: buffer 0 has 159 of 168 bytes"):
        gltf.inspect_gltf(path)


@pytest.mark.parametrize("length", [-1, "many", 10**15])
def test_a_buffer_of_no_or_any_length(write_gltf, length):
    with pytest.raises(InvalidArtifactError, match="buffer 0 has"):
        gltf.inspect_gltf(write_gltf(buffers=[{"byteLength": length, "uri": "mesh%20data.bin"}]))


def test_a_view_that_leads_out_of_its_buffer(write_gltf):
    view = {"buffer": 0, "byteOffset": 100, "byteLength": 10**12}

    with pytest.raises(InvalidArtifactError, match="a buffer view exceeds its buffer"):
        gltf.inspect_gltf(write_gltf(bufferViews=[view, view]))


def test_data_that_is_no_base64(write_gltf):
    with pytest.raises(InvalidArtifactError, match="not valid base64"):
        gltf.inspect_gltf(write_gltf(buffers=[{"byteLength": 4, "uri": "data:;base64,%%%"}]))


def test_a_file_that_is_too_large_is_not_read(write_gltf, monkeypatch):
    monkeypatch.setattr(gltf, "_MOST", 10)

    with pytest.raises(UnreadableArtifactError, match=r"mesh data\.bin exceeds the size limit"):
        gltf.inspect_gltf(write_gltf())


def test_a_picture_that_does_not_exist(write_gltf):
    assert gltf.inspect_gltf(write_gltf(images=[{"uri": "gone.png"}])).problems == ["texture 0 is missing"]


def test_one_without_meshes_is_empty(write_gltf):
    assert gltf.inspect_gltf(write_gltf(meshes=[])).problems == ["empty: no meshes"]


@pytest.mark.parametrize("inside", [False, True])
def test_a_sound_mesh_with_its_files_in_its_folder_or_embedded(write_gltf, inside):
    report = gltf.inspect_gltf(write_gltf(inside=inside))

    assert (report.kind, report.problems) == ("mesh", [])
    expected = {"vertices": 8, "faces": 12, "watertight": 1, "textures": 1, "constant_textures": 0}
    assert {key: report.metrics[key] for key in expected} == expected


def test_a_picture_in_a_buffer(write_gltf, tmp_path):
    path = write_gltf()
    picture = (tmp_path / "colour.png").read_bytes()
    (tmp_path / "pictures.bin").write_bytes(picture)
    tree = json.loads(path.read_text())
    tree["buffers"].append({"byteLength": len(picture), "uri": "pictures.bin"})
    tree["bufferViews"].append({"buffer": 1, "byteLength": len(picture)})
    tree["images"] = [{"bufferView": 2, "mimeType": "image/png"}]
    path.write_text(json.dumps(tree))

    assert gltf.inspect_gltf(path).metrics["textures"] == 1


def test_what_trimesh_writes_is_read(tmp_path, cube):
    import trimesh

    trimesh.Scene(trimesh.Trimesh(*cube, process=False)).export(tmp_path / "b.gltf")

    assert gltf.inspect_gltf(tmp_path / "b.gltf").metrics["faces"] == 12
