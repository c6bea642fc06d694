"""A choice by compute capability: on ROCm the number comes from the gfx name, so NVIDIA thresholds are meaningless."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, ancestors
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_QUERY = re.compile(r"\bget_device_(capability|properties)\s*\(")
_VERSION_FIELD = re.compile(r"\.(major|minor)$")
_ARCHITECTURE = re.compile(r"""[a-zA-Z]?["']+(\S*[=,])?sm_\{""")


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches comparisons of the capability with numbers, and architecture names built from it.

    A choice of bfloat16 is correct on AMD GPUs too, so it is a note.
    """
    if b"get_device_capability" not in unit.data and b"get_device_properties" not in unit.data:
        return
    capabilities, properties = _capability_variables(unit)
    for node in unit.nodes("comparison_operator"):
        if not any(_is_number(operand) for operand in node.named_children) or unit.is_guarded(node):
            continue
        if any(_is_capability(unit, operand, capabilities, properties) for operand in walk(node)):
            match = match_at(unit, node, comparison=" ".join(unit.slice(node).split()))
            is_harmless = "bfloat16" in _statement_text(unit, node)
            yield Match(match.line, match.column, match.facts, severity="note" if is_harmless else None)
    for node in unit.nodes("string"):
        text = unit.slice(node)
        if _ARCHITECTURE.match(text) and not unit.is_guarded(node):
            yield match_at(unit, node, comparison=text)


def _is_number(node: Node) -> bool:
    parts = node.named_children if node.type == "tuple" else [node]
    return all(part.type in ("integer", "float") for part in parts)


def _statement_text(unit: PythonUnit, node: Node) -> str:
    """The first 240 characters of the statement around a node."""
    above = next((ancestor for ancestor in ancestors(node) if ancestor.type.endswith("_statement")), node)
    return unit.slice(above)[:240]


def _capability_variables(unit: PythonUnit) -> tuple[set[str], set[str]]:
    """The names of variables that hold a capability (or its major or minor part), and of those that hold properties."""
    capabilities: set[str] = set()
    properties: set[str] = set()
    for node in unit.nodes("assignment"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        query = None if left is None or right is None else _QUERY.search(unit.slice(right))
        if left is None or right is None or query is None or left.type not in ("identifier", "pattern_list"):
            continue
        if any(inner.type == "comparison_operator" for inner in walk(right)):
            continue  # the result of a comparison, which is reported itself
        names = {unit.slice(inner) for inner in walk(left) if inner.type == "identifier"}
        if query.group(1) == "capability" or _VERSION_FIELD.search(unit.slice(right)):
            capabilities |= names
        elif left.type == "identifier":
            properties |= names
    return capabilities, properties


def _is_capability(unit: PythonUnit, node: Node, capabilities: set[str], properties: set[str]) -> bool:
    if node.type == "identifier":
        return unit.slice(node) in capabilities
    text = unit.slice(node)
    if node.type == "attribute" and _VERSION_FIELD.search(text):
        return text.rsplit(".", 1)[0] in properties or _QUERY.search(text) is not None
    query = _QUERY.search(text) if node.type == "call" else None
    return query is not None and query.group(1) == "capability"


detector = Detector(__name__, code="PY203", unit_types=PythonUnit, find=find)
