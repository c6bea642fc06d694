"""Reads a PLY. Its header decides whether it holds splats, a mesh or points."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from rocm3d.artifact import splat
from rocm3d.artifact.geometry import surface
from rocm3d.artifact.ply_header import LARGEST, Header, read_header
from rocm3d.artifact.points import cloud
from rocm3d.artifact.sight import Sight, Unfit, Unread

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.sight import Array

_INDICES = ("vertex_indices", "vertex_index")
# Lists of varying length are read row by row, in Python.
_SLOW_ROWS = 2_000_000


def look(path: Path) -> Sight:
    """The header is checked against the file size before any data is read."""
    with path.open("rb") as file:
        header = read_header(file.read(LARGEST))
    header.refuse_truncated(path.stat().st_size)
    vertex = header.element("vertex")
    if vertex is None:
        raise Unfit("no vertices: the header declares no vertex element")
    if vertex.lists:
        raise Unread("vertices with list properties are not supported")
    held = _read(path, header)
    vertices: Array = held["vertex"].data
    elements = {item.name: item.data for item in held.elements}
    if splat.is_packed(vertex.properties):
        return splat.packed(vertices, elements)
    if splat.is_plain(vertex.properties):
        return splat.plain(vertices)
    if not {"x", "y", "z"} <= set(vertex.properties):
        raise Unfit(f"the vertices have no x, y and z, only {', '.join(vertex.properties[:6])}")
    return _shape(vertices, elements.get("face"), vertex.properties)


def _shape(vertices: Array, faces: Array | None, properties: list[str]) -> Sight:
    places = _places(vertices)
    if faces is None:
        return cloud(places, coloured="red" in properties, colours=_colours(vertices))
    sight = surface([(places, _triangles(faces))])
    sight.metrics |= {"textures": 0, "constant_textures": 0}
    return sight


def _read(path: Path, header: Header) -> Any:
    """Triangles are read as one block; other faces row by row."""
    import plyfile

    lists = [item for item in header.elements if item.lists]
    three = {item.name: dict.fromkeys(item.lists, 3) for item in lists}
    if lists and not header.text:
        with contextlib.suppress(plyfile.PlyParseError):
            return plyfile.PlyData.read(str(path), known_list_len=three)
        rows = sum(item.count for item in lists)
        if rows > _SLOW_ROWS:
            raise Unread(f"{rows} faces exceed the limit for meshes that are not all triangles")
    try:
        return plyfile.PlyData.read(str(path))
    except plyfile.PlyParseError as error:
        raise Unfit(f"{'truncated' if 'end-of-file' in str(error) else 'damaged'}: {error}") from error


def _colours(vertices: Array) -> Array | None:
    import numpy

    names = ("red", "green", "blue")
    held = set(vertices.dtype.names or ())
    if not set(names) <= held or any(vertices.dtype[name] != numpy.uint8 for name in names):
        return None
    return numpy.stack([numpy.asarray(vertices[name]) for name in names], axis=1)


def _places(vertices: Array) -> Array:
    import numpy

    return numpy.stack([numpy.asarray(vertices[axis]) for axis in "xyz"], axis=1)


def _triangles(faces: Array) -> Array:
    """Vertex indices (m, 3); larger polygons become triangle fans."""
    import numpy

    name = next((name for name in _INDICES if name in (faces.dtype.names or ())), None)
    if name is None:
        raise Unfit("the faces have no vertex indices")
    column = faces[name]
    if column.dtype != object:
        return numpy.asarray(column).reshape(-1, 3)
    fans = [(row[0], row[at], row[at + 1]) for row in column for at in range(1, len(row) - 1)]
    return numpy.array(fans, dtype=numpy.int64).reshape(-1, 3)
