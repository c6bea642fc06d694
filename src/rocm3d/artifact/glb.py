"""A GLB: the meshes and the textures in it. The container: registry.khronos.org/glTF/specs/2.0/glTF-2.0.html"""

from __future__ import annotations

import io
import json
import struct
from typing import TYPE_CHECKING, Any

from rocm3d.artifact import texture
from rocm3d.artifact.geometry import surface
from rocm3d.artifact.points import cloud
from rocm3d.artifact.sight import Sight, Unfit, Unread

if TYPE_CHECKING:
    from pathlib import Path

_JSON, _BINARY = 0x4E4F534A, 0x004E4942
_MOST_JSON = 256 * 1024 * 1024
# How geometry may be packed that is not unpacked here, as extensions are called.
_PACKED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_gaussian_splatting")


def look(path: Path) -> Sight:
    """Read whole: the length in the header is that of the file, or it is truncated."""
    tree, binary = _chunks(path)
    used = [str(name) for name in _listed(tree, "extensionsUsed")]
    packed = [name for name in used if name.startswith(_PACKED)]
    if packed:
        raise Unread(f"its geometry is packed with {', '.join(packed)}, which is not unpacked")
    _refuse_promises(tree)
    if not _listed(tree, "meshes"):
        sight = Sight("mesh", {"vertices": 0, "faces": 0, "textures": 0})
        sight.problems.append("empty: no mesh in it")
        return sight
    sight = _geometry(path)
    if sight.kind == "mesh":
        textures, coloured = _textures(tree, binary)
        texture.judge(sight, textures, coloured)
    return sight


def _chunks(path: Path) -> tuple[dict[str, Any], bytes]:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(20)
        if len(head) < 20:
            raise Unfit("truncated: not even its header is whole")
        _, version, length, json_length, kind = struct.unpack("<IIIII", head)
        if version != 2:
            raise Unread(f"glTF {version} is not read")
        if length > size:
            raise Unfit(f"truncated: {size:,} of {length:,} bytes are there")
        if kind != _JSON or json_length > min(length - 20, _MOST_JSON):
            raise Unfit("damaged: it does not begin with its description")
        text = file.read(json_length)
        binary = _binary(file.read(length - 20 - json_length))
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unfit(f"damaged: its description is not JSON: {str(error)[:80]}") from error
    if not isinstance(tree, dict):
        raise Unfit("damaged: its description is no object")
    return tree, binary


def _binary(rest: bytes) -> bytes:
    if len(rest) < 8:
        return b""
    length, kind = struct.unpack_from("<II", rest)
    return rest[8 : 8 + length] if kind == _BINARY else b""


def _listed(tree: dict[str, Any], name: str) -> list[Any]:
    found = tree.get(name, [])
    if not isinstance(found, list):
        raise Unfit(f"damaged: its {name} are no list")
    return found


def _refuse_promises(tree: dict[str, Any]) -> None:
    """An accessor without bytes means so many zeros: a few words can ask for any amount of memory."""
    for item in _listed(tree, "accessors"):
        count = item.get("count", 0) if isinstance(item, dict) else None
        if not isinstance(count, int) or count < 0 or ("bufferView" not in item and count > 1 << 24):
            raise Unfit(f"damaged: an accessor of {str(count)[:30]} elements without data")


def _geometry(path: Path) -> Sight:
    import numpy
    import trimesh

    # From memory, so that no name in the file leads to another file.
    scene = trimesh.load_scene(io.BytesIO(path.read_bytes()), file_type="glb", process=False)
    parts, points = [], []
    for item in scene.geometry.values():
        if hasattr(item, "faces"):
            parts.append((numpy.asarray(item.vertices), numpy.asarray(item.faces)))
        elif isinstance(item, trimesh.PointCloud):
            points.append(numpy.asarray(item.vertices))
    if points and not parts:
        return cloud(numpy.concatenate(points), coloured=False)
    return surface(parts)


def _textures(tree: dict[str, Any], binary: bytes) -> tuple[dict[str, bytes | None], set[str]]:
    """Every image by number, and which of them give a surface its colour."""
    views, found = _listed(tree, "bufferViews"), dict[str, bytes | None]()
    for number, item in enumerate(_listed(tree, "images")):
        start, length = 0, 0
        if "bufferView" in item:
            view = views[item["bufferView"]]
            start, length = int(view.get("byteOffset", 0)), int(view["byteLength"])
        data = binary[start : start + length]
        found[str(number)] = data if data and len(data) == length else None
    images = [item.get("source") for item in _listed(tree, "textures")]
    coloured = set()
    for material in _listed(tree, "materials"):
        base = material.get("pbrMetallicRoughness", {}).get("baseColorTexture")
        if base is not None:
            coloured.add(str(images[base["index"]]))
    return found, coloured & set(found)
