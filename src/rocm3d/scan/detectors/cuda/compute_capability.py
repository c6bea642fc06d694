"""Code selected by compute capability: AMD GPUs report numbers derived from the gfx name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import ancestors_with_child

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_PROPERTIES = re.compile(rb"\bcudaDeviceProp\b|DeviceProperties\b|\bhipDeviceProp_t\b")
_TRANSPARENT = frozenset({"parenthesized_expression", "binary_expression"})


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches `major` of device properties in comparisons and arithmetic, and attribute queries, but not prints."""
    attributes = {term for term in context.code.terms if term.isidentifier()}
    if _PROPERTIES.search(unit.data):
        parents = unit.parents
        for node in unit.nodes("field_expression"):
            field = node.child_by_field_name("field")
            if field is None or unit.slice(field) != "major" or not unit.is_shared(node.start_byte):
                continue
            expression = _enclosing_expression(node, parents)
            if expression is not None:
                yield match_at(unit, expression, text=" ".join(unit.slice(expression).split()))
    if any(name.encode() in unit.data for name in attributes):
        for node in unit.nodes("identifier"):
            if unit.slice(node) in attributes and unit.is_shared(node.start_byte):
                yield match_at(unit, node, text=unit.slice(node))


def _enclosing_expression(node: Node, parents: dict[int, Node]) -> Node | None:
    """The outermost arithmetic or comparison that contains the number."""
    outermost = None
    for parent, _ in ancestors_with_child(node, parents):
        operator = parent.child_by_field_name("operator") if parent.type == "binary_expression" else None
        if parent.type not in _TRANSPARENT or (operator is not None and operator.type in ("&&", "||", "<<")):
            break
        outermost = parent if parent.type == "binary_expression" else outermost
    return outermost


detector = Detector(__name__, code="CU504", unit_types=CudaUnit, find=find)
