"""A buffer that is read before it is written: fresh device memory often reads as zero on CUDA, but not on ROCm.

Two patterns, both decided within one file. A kernel that only adds to a buffer that was never cleared is a warning.
Sort input that a kernel writes under a condition is a note: other code decides whether every entry is written.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_launch
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_SORT = re.compile(r"\bSort(Pairs|Keys)\w*$")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches arguments of launches whose kernel is in the same file."""
    kernels = {name: node for node in unit.nodes("function_definition") if (name := _kernel_name(unit, node))}
    calls = list(unit.nodes("call_expression")) if kernels else []
    sorts = {
        unit.slice(buffer): _called_name(unit, call)
        for call in calls
        if _SORT.search(_called_name(unit, call))
        for buffer in _arguments(call)
    }
    reported: set[str] = set()
    for call in calls:
        kernel = kernels.get(_called_name(unit, call))
        launch = any(child.type == "kernel_call_syntax" for child in call.named_children)
        if kernel is None or not launch or not unit.is_shared(call.start_byte):
            continue
        for argument, parameter in zip(_arguments(call), _parameters(unit, kernel), strict=False):
            text = unit.slice(argument)
            base = text.split(".", 1)[0]
            if text in reported or not re.fullmatch(r"\w+(\.|$).*", text, re.DOTALL):
                continue
            pointer_uses = _pointer_uses(unit, kernel, parameter)
            if pointer_uses == {"added"} and _is_fresh(unit, call, base, context):
                reported.add(text)
                yield match_at(unit, argument, name=base, use=f"{_called_name(unit, call)}, which only adds to it,")
            elif pointer_uses == {"under a condition"} and text in sorts and not _is_cleared(unit, text):
                reported.add(text)
                yield replace(match_at(unit, argument, name=text, use=sorts[text]), severity="note")


def _kernel_name(unit: CudaUnit, node: Node) -> str:
    declarator = node.child_by_field_name("declarator")
    name = None if declarator is None else declarator.child_by_field_name("declarator")
    return unit.slice(name) if name is not None and any(c.type == "__global__" for c in node.children) else ""


def _called_name(unit: CudaUnit, call: Node) -> str:
    function = call.child_by_field_name("function")
    return "" if function is None else unit.head(function).split("<", 1)[0].strip()


def _arguments(call: Node) -> list[Node]:
    arguments = call.child_by_field_name("arguments")
    return [] if arguments is None else [node for node in arguments.named_children if node.type != "comment"]


def _parameters(unit: CudaUnit, kernel: Node) -> list[str]:
    declarator = kernel.child_by_field_name("declarator")
    listed = None if declarator is None else declarator.child_by_field_name("parameters")
    declarations = (
        [] if listed is None else [node for node in listed.named_children if node.type.endswith("declaration")]
    )
    names = (node.child_by_field_name("declarator") for node in declarations)
    return ["" if name is None else unit.slice(name).replace("__restrict__", "").strip("*& ") for name in names]


def _pointer_uses(unit: CudaUnit, kernel: Node, parameter: str) -> set[str]:
    """How a kernel uses a pointer: "added", "written", "under a condition" (conditional write) or "otherwise"."""
    uses = set()
    body = kernel.child_by_field_name("body")
    for node in walk(body) if body is not None else ():
        if node.type == "identifier" and unit.slice(node) == parameter:
            uses.add(_pointer_use(unit, node, kernel))
    return uses


def _pointer_use(unit: CudaUnit, node: Node, kernel: Node) -> str:
    element = node.parent
    if element is None or element.type != "subscript_expression" or element.parent is None:
        return "otherwise"
    outer = element.parent
    if outer.type == "assignment_expression" and outer.child_by_field_name("left") == element:
        sign = outer.child_by_field_name("operator")
        if sign is not None and sign.type != "=":
            return "added" if sign.type == "+=" else "otherwise"
        return "under a condition" if _is_under_data_condition(outer, kernel) else "written"
    if outer.type == "pointer_expression" and outer.parent is not None and outer.parent.parent is not None:
        return "added" if _called_name(unit, outer.parent.parent) in ("atomicAdd", "gpuAtomicAdd") else "otherwise"
    return "otherwise"


def _is_under_data_condition(node: Node, kernel: Node) -> bool:
    """Whether the write depends on data. A check of the index against the size does not count."""
    above = node.parent
    while above is not None and above != kernel:
        condition = above.child_by_field_name("condition") if above.type == "if_statement" else None
        if condition is not None and any(inner.type == "subscript_expression" for inner in walk(condition)):
            return True
        above = above.parent
    return False


def _is_fresh(unit: CudaUnit, launch: Node, name: str, context: DetectorContext) -> bool:
    """Whether the same function allocates the buffer and does nothing else with it before the launch."""
    above = launch.parent
    while above is not None and above.type != "function_definition":
        above = above.parent
    if above is None:
        return False
    before = [
        n for n in walk(above) if n.type == "identifier" and unit.slice(n) == name and n.end_byte < launch.start_byte
    ]
    allocated = 0
    for node in before:
        outer = node.parent
        while outer is not None and outer.type not in ("declaration", "expression_statement"):
            outer = outer.parent
        text = "" if outer is None else unit.slice(outer)
        is_allocation = any(re.search(rf"(?<!\w){re.escape(term)}(_like)?\s*\(", text) for term in context.code.terms)
        if not is_allocation and (outer is None or outer.type != "declaration"):
            return False  # other code may have initialised it
        allocated += is_allocation
    return allocated > 0


def _is_cleared(unit: CudaUnit, text: str) -> bool:
    calls = (call for call in unit.nodes("call_expression") if "emset" in _called_name(unit, call))
    return any(text in unit.slice(call) for call in calls)


def _can_match(unit: CudaUnit, context: DetectorContext) -> bool:
    return b"__global__" in unit.data and contains_launch(unit, context)


detector = Detector(__name__, code="CU409", unit_types=CudaUnit, find=find, prefilter=_can_match)
