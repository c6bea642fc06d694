"""Disables code that requires a compute capability on ROCm, where the numbers mean something else.

Parameters: properties (types of device properties, and calls that return them), on_rocm, guard.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from rocm3d.apply.guarded_lines import Replacement, guard_lines
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import ancestors_with_child, function_name

_MINIMUM_OPERATORS = frozenset({">=", ">", "=="})
_LOGICAL_OPERATORS = frozenset({"&&", "||"})
_ASSERTION = re.compile(r"(?i)check|assert|require|enforce|expect")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Replaces comparisons of `major` with a minimum; assertions, negations and arithmetic are refused."""
    unit = CudaUnit("", data)
    properties_pattern = re.compile(
        rb"\b(?:" + b"|".join(re.escape(w.encode()) for w in list_parameter(parameters, "properties")) + rb")\b"
    )
    replacements: dict[int, Replacement] = {}
    for node in unit.nodes("field_expression") if properties_pattern.search(data) else ():
        field = node.child_by_field_name("field")
        if field is None or unit.slice(field) != "major" or not unit.is_shared(node.start_byte):
            continue
        if not _is_device_property(unit, node, list_parameter(parameters, "properties")):
            continue
        comparison = _comparison(unit, node)
        replacements[comparison.start_byte] = Replacement.of(comparison, str(parameters["on_rocm"]))
    return guard_lines(data, list(replacements.values()), parameters)


def _is_device_property(unit: CudaUnit, node: Node, properties: tuple[str, ...]) -> bool:
    """Whether the value holds device properties: by its declaration in the file, or by the call that returns it."""
    value = node.child_by_field_name("argument")
    text = "" if value is None else unit.slice(value)
    if any(name in text for name in properties):
        return True
    alternatives = "|".join(map(re.escape, properties))
    return re.search(rf"\b(?:{alternatives})\b[^;{{}}]*\b{re.escape(text)}\b".encode(), unit.data) is not None


def _comparison(unit: CudaUnit, node: Node) -> Node:
    """The comparison that contains a number, including arithmetic on the number."""
    comparison: Node | None = None
    for ancestor, _ in ancestors_with_child(node, unit.parents):
        operator = ancestor.child_by_field_name("operator") if ancestor.type == "binary_expression" else None
        if operator is not None and operator.type in _MINIMUM_OPERATORS:
            comparison = ancestor
        elif ancestor.type == "unary_expression":
            raise RewriteRefusedError("a compute capability check is negated")
        elif ancestor.type == "argument_list":
            call = unit.parents[ancestor.id]
            if comparison is None or _ASSERTION.search(function_name(unit, call)):
                raise RewriteRefusedError(f"{function_name(unit, call)} is called with a compute capability")
            break
        elif operator is not None and operator.type not in _LOGICAL_OPERATORS and comparison is not None:
            raise RewriteRefusedError("the result of a compute capability check is used in arithmetic")
        elif ancestor.type not in ("parenthesized_expression", "binary_expression"):
            break
    if comparison is None:
        raise RewriteRefusedError("a compute capability is stored, or compared in a way that needs a manual edit")
    return comparison
