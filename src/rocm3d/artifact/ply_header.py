"""Parses the header of a PLY and checks that the declared data fits into the file.

The format: paulbourke.net/dataformats/ply
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rocm3d.artifact.artifact_report import InvalidArtifactError
from rocm3d.model.counted import counted

MAX_HEADER_BYTES = 64 * 1024
_SIZES = {
    "char": 1, "uchar": 1, "int8": 1, "uint8": 1, "short": 2, "ushort": 2, "int16": 2, "uint16": 2,
    "int": 4, "uint": 4, "int32": 4, "uint32": 4, "float": 4, "float32": 4, "double": 8, "float64": 8,
}  # fmt: skip
_END = re.compile(rb"^end_header[ \t]*\r?\n", re.MULTILINE)
_ELEMENT = re.compile(r"element (\S+) (\d{1,18})")
_PROPERTY = re.compile(r"property (?:(list) (\w+) )?(\w+) (\S+)")


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
