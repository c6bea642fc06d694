"""A mesh as one GLB that names no other file, and where its vertices are."""

from __future__ import annotations

import io
import json
import struct
from typing import TYPE_CHECKING, Any

from rocm3d.artifact.obj import beside
from rocm3d.viewer.shape import Surface, refuse_empty

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.sight import Array

# Of a mesh that has neither colours nor a texture.
_CLAY = (186, 190, 198, 255)


def read(path: Path, *, broken: bool) -> Surface:
    """A GLB that is whole in itself stays as it is; anything else is written anew. `broken`: some vertices are NaN."""
    data = path.read_bytes() if path.suffix.lower() == ".glb" else b""
    scene = _scene(path, data)
    if broken:
        _drop_broken(scene)
    points = _points(scene)
    refuse_empty(points)
    if data and not broken and b'"uri"' not in data:
        return Surface(data, points)
    for item in scene.geometry.values():
        _dress(item)
    return Surface(bytes(scene.export(file_type="glb")), points)


def _scene(path: Path, data: bytes) -> Any:
    import trimesh

    if data:
        # From memory, so that no name in the file leads to another file.
        return trimesh.load_scene(io.BytesIO(data), file_type="glb", process=False)
    with path.open("rb") as file:
        return trimesh.load_scene(
            file, file_type=path.suffix.lower().removeprefix("."), resolver=resolver(path), process=False
        )


def resolver(path: Path) -> Any:
    """Finds materials and textures beside the file or below it, and nowhere else."""
    from trimesh.resolvers import FilePathResolver

    class Beside(FilePathResolver):
        """What trimesh asks for other files."""

        def get(self, name: str) -> bytes:
            """The bytes of one of them."""
            place = beside(path, name.strip())
            if place is None:
                raise FileNotFoundError(name)
            return place.read_bytes()

    return Beside(str(path.parent))


def _points(scene: Any) -> Array:
    """All vertices (n, 3) where the scene puts them."""
    import numpy
    import trimesh

    found = [numpy.zeros((0, 3))]
    for name in scene.graph.nodes_geometry:
        place, kind = scene.graph[name]
        found.append(trimesh.transform_points(numpy.asarray(scene.geometry[kind].vertices, dtype=numpy.float64), place))
    return numpy.concatenate(found)


def _drop_broken(scene: Any) -> None:
    """Faces with a corner that is NaN or infinite: the browser would show nothing of a mesh that has one."""
    import numpy

    for item in scene.geometry.values():
        if hasattr(item, "faces"):
            fine = numpy.isfinite(numpy.asarray(item.vertices)).all(axis=1)
            item.update_faces(fine[numpy.asarray(item.faces)].all(axis=1))
            item.remove_unreferenced_vertices()


def _dress(item: Any) -> None:
    """Both sides of a surface are seen; without colours it is clay, and not the metal that GLB takes for granted."""
    from trimesh import visual as untyped

    looks: Any = untyped
    visual = getattr(item, "visual", None)
    if visual is None:
        return
    material = getattr(visual, "material", None)
    if material is not None:
        plain = material.to_pbr() if hasattr(material, "to_pbr") else material
        plain.doubleSided = True
        visual.material = plain
    elif visual.kind is None:
        clay = looks.material.PBRMaterial(
            baseColorFactor=_CLAY, metallicFactor=0.0, roughnessFactor=0.9, doubleSided=True
        )
        item.visual = looks.TextureVisuals(material=clay)


def matte(glb: bytes) -> bytes:
    """The same mesh without metal: where nothing is mirrored, metal is black. What has no material becomes clay."""
    length, kind = struct.unpack_from("<II", glb, 12)
    tree, rest = json.loads(glb[20 : 20 + length]), glb[20 + length :]
    materials = tree.setdefault("materials", [])
    for material in materials:
        material.setdefault("pbrMetallicRoughness", {})["metallicFactor"] = 0.0
    shade = [(part / 255) ** 2.2 for part in _CLAY[:3]]
    clay = {"doubleSided": True, "pbrMetallicRoughness": {"metallicFactor": 0.0, "baseColorFactor": [*shade, 1.0]}}
    bare = [
        part for mesh in tree.get("meshes", []) for part in mesh.get("primitives", []) if part.get("material") is None
    ]
    for part in bare:
        part["material"] = len(materials)
    if bare:
        materials.append(clay)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), kind) + text + rest
    return glb[:8] + struct.pack("<I", 12 + len(body)) + body
