"""Disables code that requires a compute capability on ROCm, where the numbers mean something else.

Parameters: properties (types of device properties, and calls that return them), on_rocm, guard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.apply.guarded_lines import Replacement, guard_lines
from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lanes import function_name, ancestors_with_child

if TYPE_CHECKING:
    from tree_sitter import Node

    from rocm3d.model.recipe import Parameters

_OPENS = frozenset({">=", ">", "=="})
_JOINS = frozenset({"&&", "||"})
_DEMANDS = re.compile(r"(?i)check|assert|require|enforce|expect")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Replaces comparisons of `major` with a minimum; assertions, negations and arithmetic are refused."""
    unit = CudaUnit("", data)
    asked = re.compile(rb"\b(?:" + b"|".join(re.escape(w.encode()) for w in list_parameter(parameters, "properties")) + rb")\b")
    found: dict[int, Replacement] = {}
    for node in unit.nodes("field_expression") if asked.search(data) else ():
        field = node.child_by_field_name("field")
        if field is None or unit.slice(field) != "major" or not unit.is_shared(node.start_byte):
            continue
        if not _is_property(unit, node, list_parameter(parameters, "properties")):
            continue
        whole = _comparison(unit, node)
        found[whole.start_byte] = Replacement(whole.start_byte, whole.end_byte, str(parameters["on_rocm"]).encode())
    return guard_lines(data, list(found.values()), parameters)


def _is_property(unit: CudaUnit, node: Node, properties: tuple[str, ...]) -> bool:
    """Whether the value holds device properties: by its declaration in the file, or by the call that returns it."""
    value = node.child_by_field_name("argument")
    text = "" if value is None else unit.slice(value)
    if any(name in text for name in properties):
        return True
    kinds = "|".join(map(re.escape, properties))
    return re.search(rf"\b(?:{kinds})\b[^;{{}}]*\b{re.escape(text)}\b".encode(), unit.data) is not None


def _comparison(unit: CudaUnit, node: Node) -> Node:
    """The comparison that contains a number, including arithmetic on the number."""
    whole: Node | None = None
    for above, _ in ancestors_with_child(node, unit.parents):
        sign = above.child_by_field_name("operator") if above.type == "binary_expression" else None
        if sign is not None and sign.type in _OPENS:
            whole = above
        elif above.type == "unary_expression":
            raise RewriteRefusedError("a compute capability check is negated")
        elif above.type == "argument_list":
            call = unit.parents[above.id]
            if whole is None or _DEMANDS.search(function_name(unit, call)):
                raise RewriteRefusedError(f"{function_name(unit, call)} is called with a compute capability")
            break
        elif sign is not None and sign.type not in _JOINS and whole is not None:
            raise RewriteRefusedError("the result of a compute capability check is used in arithmetic")
        elif above.type not in ("parenthesized_expression", "binary_expression"):
            break
    if whole is None:
        raise RewriteRefusedError("a compute capability is stored, or compared in a way that needs a manual edit")
    return whole


rewrite = Rewrite(__name__, edit)
