"""Parses the header of a PLY and checks that the declared data fits into the file.

The format: paulbourke.net/dataformats/ply
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rocm3d.artifact.sight import Unfit

LARGEST = 64 * 1024
_SIZES = {
    "char": 1, "uchar": 1, "int8": 1, "uint8": 1, "short": 2, "ushort": 2, "int16": 2, "uint16": 2,
    "int": 4, "uint": 4, "int32": 4, "uint32": 4, "float": 4, "float32": 4, "double": 8, "float64": 8,
}  # fmt: skip
_END = re.compile(rb"^end_header[ \t]*\r?\n", re.MULTILINE)
_ELEMENT = re.compile(r"element (\S+) (\d{1,18})")
_PROPERTY = re.compile(r"property (?:(list) (\w+) )?(\w+) (\S+)")


@dataclass
class Element:
    """`min_row_bytes` is the minimum size of a row in a binary file, in bytes: an empty list still has its count."""

    name: str
    count: int
    least: int = 0
    properties: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Header:
    """`is_text` is true for ASCII files; `size` is the length of the header in bytes."""

    text: bool
    elements: tuple[Element, ...]
    size: int

    def element(self, name: str) -> Element | None:
        return next((item for item in self.elements if item.name == name), None)

    def refuse_truncated(self, file_size: int) -> None:
        """Raise if the file is too short. A text row has at least two characters per property: a digit and a space."""
        # The last row of a text file may lack its newline.
        there = file_size - self.size + int(self.text)
        for item in self.elements:
            least = 2 * len(item.properties) if self.text else item.least
            if not item.properties and item.count:
                raise Unfit(f"damaged: element {item.name} has {item.count} rows and no properties")
            there -= item.count * least
        if there < 0:
            promised = ", ".join(f"{item.count} {item.name}" for item in self.elements)
            raise Unfit(f"truncated: the header declares {promised}, but at least {-there} bytes are missing")


def read_header(head: bytes) -> Header:
    """`head` holds the first MAX_HEADER_BYTES bytes of the file, or all of a shorter one."""
    end = _END.search(head)
    if end is None:
        raise Unfit("truncated: the header has no end" if len(head) < LARGEST else "damaged: the header has no end")
    lines = head[: end.start()].decode("ascii", "replace").split("\n")
    form, elements = "", list[Element]()
    for line in (" ".join(raw.split()) for raw in lines[1:]):
        if line.startswith("format "):
            form = line.split(" ")[1]
        elif found := _ELEMENT.fullmatch(line):
            elements.append(Element(found[1], int(found[2])))
        elif (found := _PROPERTY.fullmatch(line)) and elements:
            _add(elements[-1], *found.groups())
        elif line and not line.startswith(("comment", "obj_info")):
            raise Unfit(f"damaged: unknown header line {line[:60]!r}")
    if form not in ("ascii", "binary_little_endian", "binary_big_endian"):
        raise Unfit(f"damaged: {form[:30]!r} is not a PLY format")
    return Header(form == "ascii", tuple(elements), end.end())


def _add(element: Element, is_list: str | None, counter: str | None, kind: str, name: str) -> None:
    if kind not in _SIZES or (counter or kind) not in _SIZES:
        raise Unfit(f"damaged: unknown property type {kind[:30]!r}")
    element.properties.append(name)
    if is_list:
        element.lists.append(name)
    element.least += _SIZES[counter or kind]
