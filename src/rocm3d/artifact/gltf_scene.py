"""Checks the content of a glTF, shared by .glb and .gltf: meshes, points and textures.

The format: registry.khronos.org/glTF/specs/2.0/glTF-2.0.html
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from rocm3d.artifact import texture
from rocm3d.artifact.geometry import surface
from rocm3d.artifact.points import cloud
from rocm3d.artifact.sight import Sight, Unfit, Unread

if TYPE_CHECKING:
    from collections.abc import Callable

Tree = dict[str, Any]

# glTF extensions that compress geometry and are not supported, with the name of the method.
_PACKED = {
    "KHR_draco_mesh_compression": "Draco",
    "EXT_meshopt_compression": "meshopt",
    "KHR_gaussian_splatting": "Gaussians",
}


def description(text: bytes) -> Tree:
    """The JSON of a glTF; raises if it is not an object."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unfit(f"damaged: invalid JSON: {str(error)[:80]}") from error
    if not isinstance(tree, dict):
        raise Unfit("damaged: the JSON is not an object")
    return tree


def look(tree: Tree, whole: Callable[[], bytes], image: Callable[[Tree], bytes | None]) -> Sight:
    """`read_glb` returns the complete GLB, `read_image` the bytes of an image. Both are called only if needed."""
    _refuse_packed(tree)
    _refuse_promises(tree)
    if not listed(tree, "meshes"):
        sight = Sight("mesh", {"vertices": 0, "faces": 0, "textures": 0})
        sight.problems.append("empty: no meshes")
        return sight
    sight = _geometry(whole())
    if sight.kind == "mesh":
        texture.judge(sight, *_textures(tree, image))
    return sight


def listed(tree: Tree, name: str) -> list[Any]:
    """A top-level list of a glTF, empty if absent."""
    found = tree.get(name, [])
    if not isinstance(found, list):
        raise Unfit(f"damaged: {name} is not a list")
    return found


def part(tree: Tree, view: Any, data: bytes) -> bytes | None:
    """The bytes of a buffer view; None if the buffer is too short."""
    about = listed(tree, "bufferViews")[view]
    start, length = int(about.get("byteOffset", 0)), int(about["byteLength"])
    shown = data[start : start + length] if start >= 0 < length else b""
    return shown if shown and len(shown) == length else None


def _refuse_packed(tree: Tree) -> None:
    used = [str(name) for name in listed(tree, "extensionsUsed")]
    packed = [f"{name} ({_PACKED[known]})" for name in used for known in _PACKED if name.startswith(known)]
    if packed:
        raise Unread(f"the geometry is compressed with {', '.join(packed)}, which is not supported; it may be valid")


def _refuse_promises(tree: Tree) -> None:
    """An accessor without a buffer view means zeros, so a tiny file could request any amount of memory."""
    for item in listed(tree, "accessors"):
        count = item.get("count", 0) if isinstance(item, dict) else None
        if not isinstance(count, int) or count < 0 or ("bufferView" not in item and count > 1 << 24):
            raise Unfit(f"damaged: an accessor declares {str(count)[:30]} elements without data")


def _geometry(whole: bytes) -> Sight:
    import numpy
    import trimesh

    # From memory, so that no name in the file can refer to another file.
    scene = trimesh.load_scene(io.BytesIO(whole), file_type="glb", process=False)
    parts, points = [], []
    for item in scene.geometry.values():
        if hasattr(item, "faces"):
            parts.append((numpy.asarray(item.vertices), numpy.asarray(item.faces)))
        elif isinstance(item, trimesh.PointCloud):
            points.append(numpy.asarray(item.vertices))
    if points and not parts:
        return cloud(numpy.concatenate(points), coloured=False)
    return surface(parts)


def _textures(tree: Tree, image: Callable[[Tree], bytes | None]) -> tuple[dict[str, bytes | None], set[str]]:
    """Image bytes by index (None: missing), and the indices of base colour images."""
    found = {str(number): image(item) for number, item in enumerate(listed(tree, "images"))}
    images = [item.get("source") for item in listed(tree, "textures")]
    coloured = set()
    for material in listed(tree, "materials"):
        base = material.get("pbrMetallicRoughness", {}).get("baseColorTexture")
        if base is not None:
            coloured.add(str(images[base["index"]]))
    return found, coloured & set(found)
