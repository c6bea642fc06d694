"""Reads meshes for drawing, as one self-contained GLB and its vertex positions, and point clouds."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from typing import TYPE_CHECKING, Any

import numpy
import trimesh
from trimesh.resolvers import FilePathResolver

from rocm3d.artifact.arrays import read_arrays
from rocm3d.artifact.number_file import POINT_ARRAY_NAMES
from rocm3d.artifact.obj import resolve_local
from rocm3d.viewer.gaussians import sample_rows
from rocm3d.viewer.shape import PointCloud, Surface, refuse_empty

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.artifact_report import Array

# For meshes with neither colours nor a texture.
_CLAY_COLOUR = (186, 190, 198, 255)
# For point clouds without colours.
_DEFAULT_COLOUR = (70, 90, 120)
_COLOUR_ARRAY_NAMES = ("colors", "colours", "rgb", "color", "colour")


def read(path: Path, *, has_nonfinite: bool) -> Surface:
    """A self-contained GLB is used unchanged; anything else is exported again. `has_nonfinite`: NaN in vertices."""
    data = path.read_bytes() if path.suffix.lower() == ".glb" else b""
    # From memory, so that no name in the file can refer to another file.
    scene = trimesh.load_scene(io.BytesIO(data), file_type="glb", process=False) if data else _load_scene(path)
    if has_nonfinite:
        _drop_nonfinite(scene)
    points = _world_vertices(scene)
    refuse_empty(points)
    if data and not has_nonfinite and b'"uri"' not in data:
        return Surface(data, points)
    for geometry in scene.geometry.values():
        _set_material(geometry)
    return Surface(bytes(scene.export(file_type="glb")), points)


def _load_scene(path: Path) -> Any:
    """With materials and textures in the folder of the file or below, and from nowhere else."""

    class FolderResolver(FilePathResolver):
        """trimesh calls it for every file that the mesh refers to."""

        def get(self, name: str) -> bytes:
            local_path = resolve_local(path, name.strip())
            if local_path is None:
                raise FileNotFoundError(name)
            return local_path.read_bytes()

    file_type = path.suffix.lower().removeprefix(".")
    with path.open("rb") as file:
        return trimesh.load_scene(file, file_type=file_type, resolver=FolderResolver(str(path.parent)), process=False)


def _world_vertices(scene: Any) -> Array:
    """All vertices (n, 3) in world coordinates."""
    parts = [numpy.zeros((0, 3))]
    for name in scene.graph.nodes_geometry:
        transform, geometry_name = scene.graph[name]
        vertices = numpy.asarray(scene.geometry[geometry_name].vertices, dtype=numpy.float64)
        parts.append(trimesh.transform_points(vertices, transform))
    return numpy.concatenate(parts)


def _drop_nonfinite(scene: Any) -> None:
    """Drop faces with a NaN or infinite corner: a browser shows nothing of a mesh that has one."""
    for geometry in scene.geometry.values():
        if hasattr(geometry, "faces"):
            finite = numpy.isfinite(numpy.asarray(geometry.vertices)).all(axis=1)
            geometry.update_faces(finite[numpy.asarray(geometry.faces)].all(axis=1))
            geometry.remove_unreferenced_vertices()


def _set_material(geometry: Any) -> None:
    """Make the surface double-sided, and matte grey if it has no colours; the default material of GLB is metal."""
    visual = getattr(geometry, "visual", None)
    if visual is None:
        return
    material = getattr(visual, "material", None)
    if material is not None:
        plain = material.to_pbr() if hasattr(material, "to_pbr") else material
        plain.doubleSided = True
        visual.material = plain
    elif visual.kind is None:
        visuals: Any = trimesh.visual  # has no types
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


def read_points(path: Path, max_points: int) -> tuple[PointCloud, list[str]]:
    """The point cloud, sampled down to the limit, and notes about the sampling."""
    points, colours = _read_npz(path) if zipfile.is_zipfile(path) else _scene_points(_load_scene(path))
    finite = numpy.isfinite(points).all(axis=1)
    refuse_empty(points[finite])
    rows, notes = sample_rows(int(finite.sum()), max_points, "points")
    if colours is None or len(colours) != len(points):
        drawn: Array = numpy.broadcast_to(numpy.array(_DEFAULT_COLOUR, dtype=numpy.uint8), (len(rows), 3))
    else:
        drawn = _to_uint8(colours[finite][rows])
    return PointCloud(points[finite][rows], drawn), notes


def _scene_points(scene: Any) -> tuple[Array, Array | None]:
    """Points of a PLY, GLB or OBJ that holds only points, and their colours if all parts have some."""
    parts = [scene.geometry[scene.graph[name][1]] for name in scene.graph.nodes_geometry]
    has_colours = all(len(getattr(part, "colors", ())) for part in parts)
    colours = numpy.concatenate([numpy.asarray(part.colors)[:, :3] for part in parts]) if has_colours else None
    return _world_vertices(scene), colours


def _read_npz(path: Path) -> tuple[Array, Array | None]:
    """The arrays of a .npz whose names stand for points and colours."""
    candidates = {
        name: array for name, array in read_arrays(path) if array.dtype.kind in "fiu" and array.shape[-1:] == (3,)
    }
    points = next(candidates[name] for name in POINT_ARRAY_NAMES if name in candidates)
    colours = next((candidates[name] for name in _COLOUR_ARRAY_NAMES if name in candidates), None)
    return points.reshape(-1, 3).astype(numpy.float64), None if colours is None else colours.reshape(-1, 3)


def _to_uint8(colours: Array) -> Array:
    """0 to 255; floats whose maximum is at most 1 are scaled by 255."""
    if colours.dtype.kind != "f":
        return colours.astype(numpy.uint8)
    finite = numpy.nan_to_num(colours.astype(numpy.float64))
    scaled: Array = (finite * (255 if finite.max(initial=0) <= 1 else 1)).clip(0, 255).astype(numpy.uint8)
    return scaled
