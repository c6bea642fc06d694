"""Reads a PLY: paulbourke.net/dataformats/ply. Its header decides whether it holds splats, a mesh or points."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError, UnreadableArtifactError
from rocm3d.model.counted import counted

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.artifact_report import Array

MAX_HEADER_BYTES = 64 * 1024
_SIZES = {
    "char": 1, "uchar": 1, "int8": 1, "uint8": 1, "short": 2, "ushort": 2, "int16": 2, "uint16": 2,
    "int": 4, "uint": 4, "int32": 4, "uint32": 4, "float": 4, "float32": 4, "double": 8, "float64": 8,
}  # fmt: skip
_END = re.compile(rb"^end_header[ \t]*\r?\n", re.MULTILINE)
_ELEMENT = re.compile(r"element (\S+) (\d{1,18})")
_PROPERTY = re.compile(r"property (?:(list) (\w+) )?(\w+) (\S+)")
_INDICES = ("vertex_indices", "vertex_index")
_COLOURS = ("red", "green", "blue")
# Lists of varying length are read row by row, in Python.
_SLOW_ROWS = 2_000_000


@dataclass
class PlyElement:
    """`min_row_bytes` is the minimum size of a row in a binary file, in bytes: an empty list still has its count."""

    name: str
    count: int
    min_row_bytes: int = 0
    properties: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PlyHeader:
    """`is_text` is true for ASCII files; `size` is the length of the header in bytes."""

    is_text: bool
    elements: tuple[PlyElement, ...]
    size: int

    def element(self, name: str) -> PlyElement | None:
        return next((element for element in self.elements if element.name == name), None)

    def refuse_truncated(self, file_size: int) -> None:
        """Raise if the file is too short. A text row has at least two characters per property: a digit and a space."""
        # The last row of a text file may lack its newline.
        remaining_bytes = file_size - self.size + int(self.is_text)
        for element in self.elements:
            min_row_bytes = 2 * len(element.properties) if self.is_text else element.min_row_bytes
            if not element.properties and element.count:
                raise InvalidArtifactError(
                    f"damaged: element {element.name} has {counted(element.count, 'row')} and no properties"
                )
            remaining_bytes -= element.count * min_row_bytes
        if remaining_bytes < 0:
            declared = ", ".join(f"{element.count} {element.name}" for element in self.elements)
            raise InvalidArtifactError(
                f"truncated: the header declares {declared}, but at least {-remaining_bytes} bytes are missing"
            )


def read_header(head: bytes) -> PlyHeader:
    """`head` holds the first MAX_HEADER_BYTES bytes of the file, or all of a shorter one."""
    end = _END.search(head)
    if end is None:
        raise InvalidArtifactError(
            "truncated: the header has no end" if len(head) < MAX_HEADER_BYTES else "damaged: the header has no end"
        )
    lines = head[: end.start()].decode("ascii", "replace").split("\n")
    encoding, elements = "", list[PlyElement]()
    for line in (" ".join(raw.split()) for raw in lines[1:]):
        if line.startswith("format "):
            encoding = line.split(" ")[1]
        elif match := _ELEMENT.fullmatch(line):
            elements.append(PlyElement(match[1], int(match[2])))
        elif (match := _PROPERTY.fullmatch(line)) and elements:
            _add_property(elements[-1], *match.groups())
        elif line and not line.startswith(("comment", "obj_info")):
            raise InvalidArtifactError(f"damaged: unknown header line {line[:60]!r}")
    if encoding not in ("ascii", "binary_little_endian", "binary_big_endian"):
        raise InvalidArtifactError(f"damaged: {encoding[:30]!r} is not a PLY format")
    return PlyHeader(encoding == "ascii", tuple(elements), end.end())


def _add_property(element: PlyElement, is_list: str | None, count_type: str | None, value_type: str, name: str) -> None:
    if value_type not in _SIZES or (count_type or value_type) not in _SIZES:
        raise InvalidArtifactError(f"damaged: unknown property type {value_type[:30]!r}")
    element.properties.append(name)
    if is_list:
        element.lists.append(name)
    element.min_row_bytes += _SIZES[count_type or value_type]


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
    from rocm3d.artifact import splat

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
    from rocm3d.artifact.geometry import mesh_report, point_cloud_report
    from rocm3d.artifact.splat import stack_columns

    positions = stack_columns(vertices, ["x", "y", "z"])
    if faces is None:
        colours = stack_columns(vertices, list(_COLOURS)) if _has_colours(vertices) else None
        return point_cloud_report(positions, has_colours="red" in properties, colours=colours)
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


def _has_colours(vertices: Array) -> bool:
    return all(name in (vertices.dtype.names or ()) and vertices.dtype[name] == "uint8" for name in _COLOURS)


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
