"""Reads a .gltf: JSON whose buffers and images are embedded, or files in the same folder or below."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from rocm3d.artifact import glb, gltf_scene
from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError, UnreadableArtifactError
from rocm3d.artifact.gltf_scene import list_entry
from rocm3d.artifact.obj import resolve_local

if TYPE_CHECKING:
    from pathlib import Path

_MOST = 2 * 1024**3
_MAX_IMAGE_BYTES = 512 * 1024 * 1024


def inspect(path: Path) -> ArtifactReport:
    """Merged into a GLB and read as one. Files outside the folder count as missing."""
    if path.stat().st_size > glb.MAX_JSON_BYTES:
        raise UnreadableArtifactError("the JSON exceeds the size limit")
    tree = gltf_scene.parse_description(path.read_bytes())
    if not isinstance(tree.get("asset"), dict):
        raise InvalidArtifactError("JSON, but not glTF: the key `asset` is missing")
    version = str(tree["asset"].get("version", ""))
    if version.partition(".")[0] != "2":
        raise UnreadableArtifactError(f"glTF {version[:20]} is not supported")
    loaded: list[bytes] = []

    def buffers() -> list[bytes]:
        loaded.extend([] if loaded else _read_buffers(tree, path))
        return loaded

    def image(entry: dict[str, Any]) -> bytes | None:
        if "bufferView" not in entry:
            return _read_uri(entry.get("uri"), path, _MAX_IMAGE_BYTES)
        view = list_entry(tree, "bufferViews")[entry["bufferView"]]
        return gltf_scene.view_bytes(tree, entry["bufferView"], buffers()[view["buffer"]])

    return gltf_scene.inspect(tree, lambda: _merge_into_glb(tree, buffers()), image)


def _read_buffers(tree: dict[str, Any], path: Path) -> list[bytes]:
    """All buffers, cut to their declared length. A shorter one has lost part of the mesh and raises."""
    buffers, bytes_left = list[bytes](), _MOST
    for number, entry in enumerate(list_entry(tree, "buffers")):
        byte_length = entry["byteLength"]
        if not isinstance(byte_length, int) or byte_length < 0:
            raise InvalidArtifactError(f"damaged: buffer {number} has the byteLength {str(byte_length)[:30]}")
        data = _read_uri(entry.get("uri"), path, bytes_left)
        if data is None:
            raise InvalidArtifactError(f"buffer {number} is missing: {str(entry.get('uri', 'it has no uri'))[:60]}")
        if len(data) < byte_length:
            raise InvalidArtifactError(f"truncated: buffer {number} has {len(data):,} of {byte_length:,} bytes")
        buffers.append(data[:byte_length])
        bytes_left -= len(data)
    return buffers


def _read_uri(uri: object, path: Path, max_bytes: int) -> bytes | None:
    """The content of a URI: embedded base64, or a file in the folder or below. None if it does not exist."""
    if not isinstance(uri, str):
        return None
    if uri.startswith("data:"):
        _, _, text = uri.partition(";base64,")
        try:
            return base64.b64decode(text, validate=True) or None
        except (binascii.Error, ValueError) as error:
            raise InvalidArtifactError("damaged: embedded data is not valid base64") from error
    local_path = resolve_local(path, unquote(uri))
    if local_path is None:
        return None
    if local_path.stat().st_size > max_bytes:
        raise UnreadableArtifactError(f"{local_path.name} exceeds the size limit")
    return local_path.read_bytes()


def _merge_into_glb(tree: dict[str, Any], buffers: list[bytes]) -> bytes:
    """All buffers concatenated, with view offsets adjusted. Images are left out: they are checked separately."""
    starts, end = list[int](), 0
    for data in buffers:
        starts.append(end)
        end += len(data) + -len(data) % 4
    views = []
    for view in list_entry(tree, "bufferViews"):
        start, length = int(view.get("byteOffset", 0)), int(view["byteLength"])
        if start < 0 or start + length > len(buffers[view["buffer"]]):
            raise InvalidArtifactError("damaged: a buffer view exceeds its buffer")
        views.append({**view, "buffer": 0, "byteOffset": starts[view["buffer"]] + start})
    other_keys = {
        key: value for key, value in tree.items() if key not in ("images", "textures", "materials", "samplers")
    }
    meshes = [
        {**mesh, "primitives": [_without_material(item) for item in mesh.get("primitives", [])]}
        for mesh in tree["meshes"]
    ]
    description = {**other_keys, "buffers": [{"byteLength": end}], "bufferViews": views, "meshes": meshes}
    return glb.pack_glb(json.dumps(description).encode(), b"".join(data + b"\0" * (-len(data) % 4) for data in buffers))


def _without_material(primitive: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in primitive.items() if key != "material"}
