"""A glTF in several files: the description, and buffers and pictures in it or beside it, and nowhere else."""

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
    """As a GLB of the same: its buffers are put together first, and what a name leads out to is not there."""
    if path.stat().st_size > glb.MOST_JSON:
        raise Unread("its description is larger than is read")
    tree = gltf_scene.description(path.read_bytes())
    if not isinstance(tree.get("asset"), dict):
        raise Unfit("JSON text, but no glTF: it has no asset")
    version = str(tree["asset"].get("version", ""))
    if version.partition(".")[0] != "2":
        raise Unread(f"glTF {version[:20]} is not read")
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
    """Every buffer, as long as it says; one that is not whole has lost part of the mesh."""
    found, room = list[bytes](), _MOST
    for number, item in enumerate(listed(tree, "buffers")):
        wanted = item["byteLength"]
        if not isinstance(wanted, int) or wanted < 0:
            raise Unfit(f"damaged: buffer {number} has {str(wanted)[:30]} bytes")
        data = _bytes(item.get("uri"), path, room)
        if data is None:
            raise Unfit(f"buffer {number} is not there: {str(item.get('uri', 'it has no name'))[:60]}")
        if len(data) < wanted:
            raise Unfit(f"truncated: buffer {number} has {len(data):,} of {wanted:,} bytes")
        found.append(data[:wanted])
        room -= len(data)
    return found


def _bytes(uri: object, path: Path, most: int) -> bytes | None:
    """What a name means: the data in it, or a file that lies beside or below. None where that is not there."""
    if not isinstance(uri, str):
        return None
    if uri.startswith("data:"):
        _, _, text = uri.partition(";base64,")
        try:
            return base64.b64decode(text, validate=True) or None
        except (binascii.Error, ValueError) as error:
            raise Unfit("damaged: data in it is no base64") from error
    place = beside(path, unquote(uri))
    if place is None:
        return None
    if place.stat().st_size > most:
        raise Unread(f"{place.name} is larger than is read")
    return place.read_bytes()


def _as_glb(tree: dict[str, Any], buffers: list[bytes]) -> bytes:
    """The buffers one after the other, and every view where its part lies now. Pictures are judged by themselves."""
    starts, end = list[int](), 0
    for data in buffers:
        starts.append(end)
        end += len(data) + -len(data) % 4
    views = []
    for view in listed(tree, "bufferViews"):
        start, length = int(view.get("byteOffset", 0)), int(view["byteLength"])
        if start < 0 or start + length > len(buffers[view["buffer"]]):
            raise Unfit("damaged: a view leads out of its buffer")
        views.append({**view, "buffer": 0, "byteOffset": starts[view["buffer"]] + start})
    plain = {key: value for key, value in tree.items() if key not in ("images", "textures", "materials", "samplers")}
    meshes = [{**mesh, "primitives": [_bare(item) for item in mesh.get("primitives", [])]} for mesh in tree["meshes"]]
    described = {**plain, "buffers": [{"byteLength": end}], "bufferViews": views, "meshes": meshes}
    return glb.packed(json.dumps(described).encode(), b"".join(data + b"\0" * (-len(data) % 4) for data in buffers))


def _bare(primitive: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in primitive.items() if key != "material"}
