"""Reads a mesh for drawing, as one self-contained GLB and its vertex positions."""

from __future__ import annotations

import io
import json
import struct
from typing import TYPE_CHECKING, Any

from rocm3d.artifact.obj import resolve_local
from rocm3d.viewer.shape import Surface, refuse_empty

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.artifact_report import Array

# For meshes with neither colours nor a texture.
_CLAY_COLOUR = (186, 190, 198, 255)


def read(path: Path, *, has_nonfinite: bool) -> Surface:
    """A self-contained GLB is used unchanged; anything else is exported again. `has_nonfinite`: NaN in vertices."""
    data = path.read_bytes() if path.suffix.lower() == ".glb" else b""
    scene = _load_scene(path, data)
    if has_nonfinite:
        _drop_nonfinite(scene)
    points = _world_vertices(scene)
    refuse_empty(points)
    if data and not has_nonfinite and b'"uri"' not in data:
        return Surface(data, points)
    for geometry in scene.geometry.values():
        _set_material(geometry)
    return Surface(bytes(scene.export(file_type="glb")), points)


def _load_scene(path: Path, data: bytes) -> Any:
    import trimesh

    if data:
        # From memory, so that no name in the file can refer to another file.
        return trimesh.load_scene(io.BytesIO(data), file_type="glb", process=False)
    with path.open("rb") as file:
        return trimesh.load_scene(
            file, file_type=path.suffix.lower().removeprefix("."), resolver=folder_resolver(path), process=False
        )


def folder_resolver(path: Path) -> Any:
    """Finds materials and textures in the folder of the file or below, and nowhere else."""
    from trimesh.resolvers import FilePathResolver

    class FolderResolver(FilePathResolver):
        """trimesh calls it for every file that the mesh refers to."""

        def get(self, name: str) -> bytes:
            local_path = resolve_local(path, name.strip())
            if local_path is None:
                raise FileNotFoundError(name)
            return local_path.read_bytes()

    return FolderResolver(str(path.parent))


def _world_vertices(scene: Any) -> Array:
    """All vertices (n, 3) in world coordinates."""
    import numpy
    import trimesh

    parts = [numpy.zeros((0, 3))]
    for name in scene.graph.nodes_geometry:
        transform, geometry_name = scene.graph[name]
        parts.append(
            trimesh.transform_points(
                numpy.asarray(scene.geometry[geometry_name].vertices, dtype=numpy.float64), transform
            )
        )
    return numpy.concatenate(parts)


def _drop_nonfinite(scene: Any) -> None:
    """Drop faces with a NaN or infinite corner: a browser shows nothing of a mesh that has one."""
    import numpy

    for geometry in scene.geometry.values():
        if hasattr(geometry, "faces"):
            finite = numpy.isfinite(numpy.asarray(geometry.vertices)).all(axis=1)
            geometry.update_faces(finite[numpy.asarray(geometry.faces)].all(axis=1))
            geometry.remove_unreferenced_vertices()


def _set_material(geometry: Any) -> None:
    """Make the surface double-sided, and matte grey if it has no colours; the default material of GLB is metal."""
    from trimesh import visual as untyped

    visuals: Any = untyped
    visual = getattr(geometry, "visual", None)
    if visual is None:
        return
    material = getattr(visual, "material", None)
    if material is not None:
        plain = material.to_pbr() if hasattr(material, "to_pbr") else material
        plain.doubleSided = True
        visual.material = plain
    elif visual.kind is None:
        clay = visuals.material.PBRMaterial(
            baseColorFactor=_CLAY_COLOUR, metallicFactor=0.0, roughnessFactor=0.9, doubleSided=True
        )
        geometry.visual = visuals.TextureVisuals(material=clay)


def without_metal(glb: bytes) -> bytes:
    """The GLB with metallicFactor 0: without an environment map, metal is black. No material becomes matte grey."""
    length, kind = struct.unpack_from("<II", glb, 12)
    tree, binary = json.loads(glb[20 : 20 + length]), glb[20 + length :]
    materials = tree.setdefault("materials", [])
    for material in materials:
        material.setdefault("pbrMetallicRoughness", {})["metallicFactor"] = 0.0
    shade = [(part / 255) ** 2.2 for part in _CLAY_COLOUR[:3]]
    clay = {"doubleSided": True, "pbrMetallicRoughness": {"metallicFactor": 0.0, "baseColorFactor": [*shade, 1.0]}}
    without_material = [
        part for mesh in tree.get("meshes", []) for part in mesh.get("primitives", []) if part.get("material") is None
    ]
    for part in without_material:
        part["material"] = len(materials)
    if without_material:
        materials.append(clay)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), kind) + text + binary
    return glb[:8] + struct.pack("<I", 12 + len(body)) + body
