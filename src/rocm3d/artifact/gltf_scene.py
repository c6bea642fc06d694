"""Checks the content of a glTF, shared by .glb and .gltf: meshes, points and textures.

The format: registry.khronos.org/glTF/specs/2.0/glTF-2.0.html
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from rocm3d.artifact import texture
from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError, UnreadableArtifactError
from rocm3d.artifact.geometry import mesh_report
from rocm3d.artifact.points import point_cloud_report

if TYPE_CHECKING:
    from collections.abc import Callable

Tree = dict[str, Any]

# glTF extensions that compress geometry and are not supported, with the name of the method.
_UNSUPPORTED_EXTENSIONS = {
    "KHR_draco_mesh_compression": "Draco",
    "EXT_meshopt_compression": "meshopt",
    "KHR_gaussian_splatting": "Gaussians",
}


def parse_description(text: bytes) -> Tree:
    """The JSON of a glTF; raises if it is not an object."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArtifactError(f"damaged: invalid JSON: {str(error)[:80]}") from error
    if not isinstance(tree, dict):
        raise InvalidArtifactError("damaged: the JSON is not an object")
    return tree


def inspect(tree: Tree, read_glb: Callable[[], bytes], read_image: Callable[[Tree], bytes | None]) -> ArtifactReport:
    """`read_glb` returns the complete GLB, `read_image` the bytes of an image. Both are called only if needed."""
    _refuse_compressed(tree)
    _refuse_oversized_accessors(tree)
    if not list_entry(tree, "meshes"):
        report = ArtifactReport("mesh", {"vertices": 0, "faces": 0, "textures": 0})
        report.problems.append("empty: no meshes")
        return report
    report = _geometry_report(read_glb())
    if report.kind == "mesh":
        texture.check_textures(report, *_read_textures(tree, read_image))
    return report


def list_entry(tree: Tree, name: str) -> list[Any]:
    """A top-level list of a glTF, empty if absent."""
    entries = tree.get(name, [])
    if not isinstance(entries, list):
        raise InvalidArtifactError(f"damaged: {name} is not a list")
    return entries


def view_bytes(tree: Tree, view: Any, data: bytes) -> bytes | None:
    """The bytes of a buffer view; None if the buffer is too short."""
    view_entry = list_entry(tree, "bufferViews")[view]
    start, length = int(view_entry.get("byteOffset", 0)), int(view_entry["byteLength"])
    content = data[start : start + length] if start >= 0 < length else b""
    return content if content and len(content) == length else None


def _refuse_compressed(tree: Tree) -> None:
    used = [str(name) for name in list_entry(tree, "extensionsUsed")]
    unsupported = [
        f"{name} ({_UNSUPPORTED_EXTENSIONS[known]})"
        for name in used
        for known in _UNSUPPORTED_EXTENSIONS
        if name.startswith(known)
    ]
    if unsupported:
        raise UnreadableArtifactError(
            f"the geometry is compressed with {', '.join(unsupported)}, which is not supported; it may be valid"
        )


def _refuse_oversized_accessors(tree: Tree) -> None:
    """An accessor without a buffer view means zeros, so a tiny file could request any amount of memory."""
    for accessor in list_entry(tree, "accessors"):
        count = accessor.get("count", 0) if isinstance(accessor, dict) else None
        if not isinstance(count, int) or count < 0 or ("bufferView" not in accessor and count > 1 << 24):
            raise InvalidArtifactError(f"damaged: an accessor declares {str(count)[:30]} elements without data")


def _geometry_report(glb: bytes) -> ArtifactReport:
    import numpy
    import trimesh

    # From memory, so that no name in the file can refer to another file.
    scene = trimesh.load_scene(io.BytesIO(glb), file_type="glb", process=False)
    parts, points = [], []
    for geometry in scene.geometry.values():
        if hasattr(geometry, "faces"):
            parts.append((numpy.asarray(geometry.vertices), numpy.asarray(geometry.faces)))
        elif isinstance(geometry, trimesh.PointCloud):
            points.append(numpy.asarray(geometry.vertices))
    if points and not parts:
        return point_cloud_report(numpy.concatenate(points), has_colours=False)
    return mesh_report(parts)


def _read_textures(tree: Tree, read_image: Callable[[Tree], bytes | None]) -> tuple[dict[str, bytes | None], set[str]]:
    """Image bytes by index (None: missing), and the indices of base colour images."""
    textures = {str(number): read_image(item) for number, item in enumerate(list_entry(tree, "images"))}
    images = [item.get("source") for item in list_entry(tree, "textures")]
    colour_textures = set()
    for material in list_entry(tree, "materials"):
        base = material.get("pbrMetallicRoughness", {}).get("baseColorTexture")
        if base is not None:
            colour_textures.add(str(images[base["index"]]))
    return textures, colour_textures & set(textures)
