"""Reads a PLY. Its header decides whether it holds splats, a mesh or points."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from rocm3d.artifact import splat
from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError, UnreadableArtifactError
from rocm3d.artifact.geometry import mesh_report
from rocm3d.artifact.ply_header import MAX_HEADER_BYTES, PlyHeader, read_header
from rocm3d.artifact.points import point_cloud_report

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.artifact_report import Array

_INDICES = ("vertex_indices", "vertex_index")
# Lists of varying length are read row by row, in Python.
_SLOW_ROWS = 2_000_000


def inspect(path: Path) -> ArtifactReport:
    """The header is checked against the file size before any data is read."""
    with path.open("rb") as file:
        header = read_header(file.read(MAX_HEADER_BYTES))
    header.refuse_truncated(path.stat().st_size)
    vertex = header.element("vertex")
    if vertex is None:
        raise InvalidArtifactError("no vertices: the header declares no vertex element")
    if vertex.lists:
        raise UnreadableArtifactError("vertices with list properties are not supported")
    ply_data = _read(path, header)
    vertices: Array = ply_data["vertex"].data
    elements = {item.name: item.data for item in ply_data.elements}
    if splat.is_packed_layout(vertex.properties):
        return splat.packed_report(vertices, elements)
    if splat.is_plain_layout(vertex.properties):
        return splat.plain_report(vertices)
    if not {"x", "y", "z"} <= set(vertex.properties):
        raise InvalidArtifactError(f"the vertices have no x, y and z, only {', '.join(vertex.properties[:6])}")
    return _geometry_report(vertices, elements.get("face"), vertex.properties)


def _geometry_report(vertices: Array, faces: Array | None, properties: list[str]) -> ArtifactReport:
    positions = _positions(vertices)
    if faces is None:
        return point_cloud_report(positions, has_colours="red" in properties, colours=_colours(vertices))
    report = mesh_report([(positions, _triangles(faces))])
    report.metrics |= {"textures": 0, "constant_textures": 0}
    return report


def _read(path: Path, header: PlyHeader) -> Any:
    """Triangles are read as one block; other faces row by row."""
    import plyfile

    lists = [item for item in header.elements if item.lists]
    list_lengths = {item.name: dict.fromkeys(item.lists, 3) for item in lists}
    if lists and not header.is_text:
        with contextlib.suppress(plyfile.PlyParseError):
            return plyfile.PlyData.read(str(path), known_list_len=list_lengths)
        rows = sum(item.count for item in lists)
        if rows > _SLOW_ROWS:
            raise UnreadableArtifactError(f"{rows} faces exceed the limit for meshes that are not all triangles")
    try:
        return plyfile.PlyData.read(str(path))
    except plyfile.PlyParseError as error:
        raise InvalidArtifactError(f"{'truncated' if 'end-of-file' in str(error) else 'damaged'}: {error}") from error


def _colours(vertices: Array) -> Array | None:
    import numpy

    names = ("red", "green", "blue")
    present = set(vertices.dtype.names or ())
    if not set(names) <= present or any(vertices.dtype[name] != numpy.uint8 for name in names):
        return None
    return numpy.stack([numpy.asarray(vertices[name]) for name in names], axis=1)


def _positions(vertices: Array) -> Array:
    import numpy

    return numpy.stack([numpy.asarray(vertices[axis]) for axis in "xyz"], axis=1)


def _triangles(faces: Array) -> Array:
    """Vertex indices (m, 3); larger polygons become triangle fans."""
    import numpy

    name = next((name for name in _INDICES if name in (faces.dtype.names or ())), None)
    if name is None:
        raise InvalidArtifactError("the faces have no vertex indices")
    column = faces[name]
    if column.dtype != object:
        return numpy.asarray(column).reshape(-1, 3)
    fans = [(row[0], row[corner], row[corner + 1]) for row in column for corner in range(1, len(row) - 1)]
    return numpy.array(fans, dtype=numpy.int64).reshape(-1, 3)
