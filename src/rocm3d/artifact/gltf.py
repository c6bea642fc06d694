"""Reads a .gltf: JSON whose buffers and images are embedded, or files in the same folder or below."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from rocm3d.artifact import glb, gltf_scene
from rocm3d.artifact.gltf_scene import listed
from rocm3d.artifact.obj import beside
from rocm3d.artifact.sight import Sight, Unfit, Unread

if TYPE_CHECKING:
    from pathlib import Path

_MOST = 2 * 1024**3
_IMAGE = 512 * 1024 * 1024


def look(path: Path) -> Sight:
    """Merged into a GLB and read as one. Files outside the folder count as missing."""
    if path.stat().st_size > glb.MOST_JSON:
        raise Unread("the JSON exceeds the size limit")
    tree = gltf_scene.description(path.read_bytes())
    if not isinstance(tree.get("asset"), dict):
        raise Unfit("JSON, but not glTF: the key `asset` is missing")
    version = str(tree["asset"].get("version", ""))
    if version.partition(".")[0] != "2":
        raise Unread(f"glTF {version[:20]} is not supported")
    held: list[bytes] = []

    def buffers() -> list[bytes]:
        held.extend([] if held else _buffers(tree, path))
        return held

    def image(item: dict[str, Any]) -> bytes | None:
        if "bufferView" not in item:
            return _bytes(item.get("uri"), path, _IMAGE)
        view = listed(tree, "bufferViews")[item["bufferView"]]
        return gltf_scene.part(tree, item["bufferView"], buffers()[view["buffer"]])

    return gltf_scene.look(tree, lambda: _as_glb(tree, buffers()), image)


def _buffers(tree: dict[str, Any], path: Path) -> list[bytes]:
    """All buffers, cut to their declared length. A shorter one has lost part of the mesh and raises."""
    found, room = list[bytes](), _MOST
    for number, item in enumerate(listed(tree, "buffers")):
        wanted = item["byteLength"]
        if not isinstance(wanted, int) or wanted < 0:
            raise Unfit(f"damaged: buffer {number} has the byteLength {str(wanted)[:30]}")
        data = _bytes(item.get("uri"), path, room)
        if data is None:
            raise Unfit(f"buffer {number} is missing: {str(item.get('uri', 'it has no uri'))[:60]}")
        if len(data) < wanted:
            raise Unfit(f"truncated: buffer {number} has {len(data):,} of {wanted:,} bytes")
        found.append(data[:wanted])
        room -= len(data)
    return found


def _bytes(uri: object, path: Path, most: int) -> bytes | None:
    """The content of a URI: embedded base64, or a file in the folder or below. None if it does not exist."""
    if not isinstance(uri, str):
        return None
    if uri.startswith("data:"):
        _, _, text = uri.partition(";base64,")
        try:
            return base64.b64decode(text, validate=True) or None
        except (binascii.Error, ValueError) as error:
            raise Unfit("damaged: embedded data is not valid base64") from error
    place = beside(path, unquote(uri))
    if place is None:
        return None
    if place.stat().st_size > most:
        raise Unread(f"{place.name} exceeds the size limit")
    return place.read_bytes()


def _as_glb(tree: dict[str, Any], buffers: list[bytes]) -> bytes:
    """All buffers concatenated, with view offsets adjusted. Images are left out: they are checked separately."""
    starts, end = list[int](), 0
    for data in buffers:
        starts.append(end)
        end += len(data) + -len(data) % 4
    views = []
    for view in listed(tree, "bufferViews"):
        start, length = int(view.get("byteOffset", 0)), int(view["byteLength"])
        if start < 0 or start + length > len(buffers[view["buffer"]]):
            raise Unfit("damaged: a buffer view exceeds its buffer")
        views.append({**view, "buffer": 0, "byteOffset": starts[view["buffer"]] + start})
    plain = {key: value for key, value in tree.items() if key not in ("images", "textures", "materials", "samplers")}
    meshes = [{**mesh, "primitives": [_bare(item) for item in mesh.get("primitives", [])]} for mesh in tree["meshes"]]
    described = {**plain, "buffers": [{"byteLength": end}], "bufferViews": views, "meshes": meshes}
    return glb.packed(json.dumps(described).encode(), b"".join(data + b"\0" * (-len(data) % 4) for data in buffers))


def _bare(primitive: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in primitive.items() if key != "material"}
