"""Pointee types of a C++ file, from declarations and casts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

    from rocm3d.syntax.cuda import CudaUnit

_NAME = re.compile(r"\*\s*(?:__restrict__\s*|const\s*)*(\w+)")
_LEFTMOST = re.compile(r"[\s(&*]*(\w+)")
_CAST = re.compile(r"[\s(]*(?:(?:reinterpret|static)_cast\s*<|\()\s*(?:const\s+|volatile\s+)*([\w:]+)\s*\*")


def pointers(unit: CudaUnit) -> Iterator[tuple[str, str]]:
    """Name and pointee type of each pointer variable and parameter."""
    for node in unit.nodes("parameter_declaration", "declaration"):
        kind, name = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        if kind is None or name is None or "*" not in unit.slice(name):
            continue
        found = _NAME.search(unit.slice(name))
        if found is not None:
            yield found.group(1), unit.slice(kind)


def pointed_to(unit: CudaUnit, given: Node, known: Mapping[str, str]) -> str | None:
    """The pointee type of an expression: from a leading cast, else from the declaration of its leftmost name."""
    text = unit.slice(given)
    cast = _CAST.match(text)
    if cast is not None:
        return cast.group(1)
    named = _LEFTMOST.match(text)
    return None if named is None else known.get(named.group(1))
