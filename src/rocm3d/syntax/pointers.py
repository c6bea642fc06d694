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


def pointee_types(unit: CudaUnit) -> Iterator[tuple[str, str]]:
    """Name and pointee type of each pointer variable and parameter."""
    for node in unit.nodes("parameter_declaration", "declaration"):
        type_node, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        if type_node is None or declarator is None or "*" not in unit.slice(declarator):
            continue
        name_match = _NAME.search(unit.slice(declarator))
        if name_match is not None:
            yield name_match.group(1), unit.slice(type_node)


def pointee_type(unit: CudaUnit, expression: Node, declared: Mapping[str, str]) -> str | None:
    """The pointee type of an expression: from a leading cast, else from the declaration of its leftmost name."""
    text = unit.slice(expression)
    cast = _CAST.match(text)
    if cast is not None:
        return cast.group(1)
    name_match = _LEFTMOST.match(text)
    return None if name_match is None else declared.get(name_match.group(1))
