"""Reads glTF: a .glb, its binary container, or a .gltf with buffers and images embedded or in files beside it.

The format: registry.khronos.org/glTF/specs/2.0/glTF-2.0.html
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import struct
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError, UnreadableArtifactError
from rocm3d.artifact.image import check_textures
from rocm3d.artifact.obj import resolve_local, scene_report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Tree = dict[str, Any]

_JSON, _BINARY = 0x4E4F534A, 0x004E4942
MAX_JSON_BYTES = 256 * 1024 * 1024
_MOST = 2 * 1024**3
_MAX_IMAGE_BYTES = 512 * 1024 * 1024
# glTF extensions that compress geometry and are not supported, with the name of the method.
_UNSUPPORTED_EXTENSIONS = {
    "KHR_draco_mesh_compression": "Draco",
    "EXT_meshopt_compression": "meshopt",
    "KHR_gaussian_splatting": "Gaussians",
}


def inspect_glb(path: Path) -> ArtifactReport:
    """The header declares the length of the file; a shorter file is truncated."""
    tree, binary = _read_chunks(path)

    def image(entry: Tree) -> bytes | None:
        return view_bytes(tree, entry["bufferView"], binary) if "bufferView" in entry else None

    return inspect_tree(tree, path.read_bytes, image)


def inspect_gltf(path: Path) -> ArtifactReport:
    """Merged into a GLB and read as one. Files outside the folder count as missing."""
    if path.stat().st_size > MAX_JSON_BYTES:
        raise UnreadableArtifactError("the JSON exceeds the size limit")
    tree = _parse_description(path.read_bytes())
    if not isinstance(tree.get("asset"), dict):
        raise InvalidArtifactError("JSON, but not glTF: the key `asset` is missing")
    version = str(tree["asset"].get("version", ""))
    if version.partition(".")[0] != "2":
        raise UnreadableArtifactError(f"glTF {version[:20]} is not supported")
    loaded: list[bytes] = []

    def buffers() -> list[bytes]:
        loaded.extend([] if loaded else _read_buffers(tree, path))
        return loaded

    def image(entry: Tree) -> bytes | None:
        if "bufferView" not in entry:
            return _read_uri(entry.get("uri"), path, _MAX_IMAGE_BYTES)
        view = _list_entry(tree, "bufferViews")[entry["bufferView"]]
        return view_bytes(tree, entry["bufferView"], buffers()[view["buffer"]])

    return inspect_tree(tree, lambda: _merge_into_glb(tree, buffers()), image)


def _parse_description(text: bytes) -> Tree:
    """The JSON of a glTF; raises if it is not an object."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArtifactError(f"damaged: invalid JSON: {str(error)[:80]}") from error
    if not isinstance(tree, dict):
        raise InvalidArtifactError("damaged: the JSON is not an object")
    return tree


def inspect_tree(
    tree: Tree, read_glb: Callable[[], bytes], read_image: Callable[[Tree], bytes | None]
) -> ArtifactReport:
    """`read_glb` returns the complete GLB, `read_image` the bytes of an image. Both are called only if needed."""
    _refuse_compressed(tree)
    _refuse_oversized_accessors(tree)
    if not _list_entry(tree, "meshes"):
        return ArtifactReport("mesh", {"vertices": 0, "faces": 0, "textures": 0}, ["empty: no meshes"])
    # From memory, so that no name in the file can refer to another file.
    report = scene_report(io.BytesIO(read_glb()), "glb")
    if report.kind == "mesh":
        check_textures(report, *_read_textures(tree, read_image))
    return report


def _list_entry(tree: Tree, name: str) -> list[Any]:
    """A top-level list of a glTF, empty if absent."""
    entries = tree.get(name, [])
    if not isinstance(entries, list):
        raise InvalidArtifactError(f"damaged: {name} is not a list")
    return entries


def view_bytes(tree: Tree, view: Any, data: bytes) -> bytes | None:
    """The bytes of a buffer view; None if the buffer is too short."""
    view_entry = _list_entry(tree, "bufferViews")[view]
    start, length = int(view_entry.get("byteOffset", 0)), int(view_entry["byteLength"])
    content = data[start : start + length] if start >= 0 < length else b""
    return content if content and len(content) == length else None


def _refuse_compressed(tree: Tree) -> None:
    unsupported = [
        f"{name} ({method})"
        for name in map(str, _list_entry(tree, "extensionsUsed"))
        for known, method in _UNSUPPORTED_EXTENSIONS.items()
        if name.startswith(known)
    ]
    if unsupported:
        raise UnreadableArtifactError(
            f"the geometry is compressed with {', '.join(unsupported)}, which is not supported; it may be valid"
        )


def _refuse_oversized_accessors(tree: Tree) -> None:
    """An accessor without a buffer view means zeros, so a tiny file could request any amount of memory."""
    for accessor in _list_entry(tree, "accessors"):
        count = accessor.get("count", 0) if isinstance(accessor, dict) else None
        if not isinstance(count, int) or count < 0 or ("bufferView" not in accessor and count > 1 << 24):
            raise InvalidArtifactError(f"damaged: an accessor declares {str(count)[:30]} elements without data")


def _read_textures(tree: Tree, read_image: Callable[[Tree], bytes | None]) -> tuple[dict[str, bytes | None], set[str]]:
    """Image bytes by index (None: missing), and the indices of base colour images."""
    textures = {str(number): read_image(item) for number, item in enumerate(_list_entry(tree, "images"))}
    images = [item.get("source") for item in _list_entry(tree, "textures")]
    materials = (item.get("pbrMetallicRoughness", {}) for item in _list_entry(tree, "materials"))
    colours = (item["baseColorTexture"] for item in materials if item.get("baseColorTexture") is not None)
    return textures, {str(images[base["index"]]) for base in colours} & set(textures)


def pack_glb(json_text: bytes, binary: bytes) -> bytes:
    """A GLB from its JSON chunk and its binary chunk."""
    json_text += b" " * (-len(json_text) % 4)
    binary = _pad(binary)
    body = struct.pack("<II", len(json_text), _JSON) + json_text + struct.pack("<II", len(binary), _BINARY) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def _pad(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def _read_chunks(path: Path) -> tuple[Tree, bytes]:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(20)
        if len(head) < 20:
            raise InvalidArtifactError("truncated: the header is incomplete")
        _, version, length, json_length, kind = struct.unpack("<IIIII", head)
        if version != 2:
            raise UnreadableArtifactError(f"glTF {version} is not supported")
        if length > size:
            raise InvalidArtifactError(f"truncated: the file has {size:,} of {length:,} bytes")
        if kind != _JSON or json_length > min(length - 20, MAX_JSON_BYTES):
            raise InvalidArtifactError("damaged: the first chunk is not JSON")
        text = file.read(json_length)
        binary = _binary_chunk(file.read(length - 20 - json_length))
    return _parse_description(text), binary


def _binary_chunk(data: bytes) -> bytes:
    if len(data) < 8:
        return b""
    length, kind = struct.unpack_from("<II", data)
    return data[8 : 8 + length] if kind == _BINARY else b""


def _read_buffers(tree: Tree, path: Path) -> list[bytes]:
    """All buffers, cut to their declared length. A shorter one has lost part of the mesh and raises."""
    buffers, bytes_left = list[bytes](), _MOST
    for number, entry in enumerate(_list_entry(tree, "buffers")):
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
        try:
            return base64.b64decode(uri.partition(";base64,")[2], validate=True) or None
        except (binascii.Error, ValueError) as error:
            raise InvalidArtifactError("damaged: embedded data is not valid base64") from error
    local_path = resolve_local(path, unquote(uri))
    if local_path is None:
        return None
    if local_path.stat().st_size > max_bytes:
        raise UnreadableArtifactError(f"{local_path.name} exceeds the size limit")
    return local_path.read_bytes()


def _merge_into_glb(tree: Tree, buffers: list[bytes]) -> bytes:
    """All buffers concatenated, with view offsets adjusted. Images are left out: they are checked separately."""
    padded = [_pad(data) for data in buffers]
    starts = [0, *accumulate(map(len, padded))]
    views = []
    for view in _list_entry(tree, "bufferViews"):
        start, length = int(view.get("byteOffset", 0)), int(view["byteLength"])
        if start < 0 or start + length > len(buffers[view["buffer"]]):
            raise InvalidArtifactError("damaged: a buffer view exceeds its buffer")
        views.append({**view, "buffer": 0, "byteOffset": starts[view["buffer"]] + start})
    meshes = [
        {**mesh, "primitives": [_without(item, "material") for item in mesh.get("primitives", [])]}
        for mesh in tree["meshes"]
    ]
    other_keys = _without(tree, "images", "textures", "materials", "samplers")
    description = {**other_keys, "buffers": [{"byteLength": starts[-1]}], "bufferViews": views, "meshes": meshes}
    return pack_glb(json.dumps(description).encode(), b"".join(padded))


def _without(table: Tree, *keys: str) -> Tree:
    return {key: value for key, value in table.items() if key not in keys}
