"""A repository's own shuffle overloads for half types: on ROCm they shuffle the bits, without a mask.

HIP has shuffles for built-in types only. A half converts to several of them, so a plain call would be ambiguous.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from rocm3d.apply.guarded_lines import Replacement
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import arguments, function_name

_WITHOUT_WIDTH, _WITH_WIDTH = 3, 4
_WIDTH = "const int width = warpSize"


@dataclass(frozen=True)
class _Parameter:
    """The complete source text of a parameter, its name, and its type."""

    text: str
    name: str
    kind: str


def overloads(unit: CudaUnit, calls: Collection[str], types: Collection[str]) -> Iterator[Replacement]:
    """Replacements for overloads that only forward a value of one of the types to the shuffle of the same name."""
    declared = {unit.head(node).split("(", 1)[0].strip() for node in unit.nodes("function_declarator")}
    for node in unit.nodes("function_definition"):
        declarator = node.child_by_field_name("declarator")
        if declarator is None or declarator.type != "function_declarator" or not unit.is_shared(node.start_byte):
            continue
        name = unit.slice(declarator.child_by_field_name("declarator") or declarator)
        plain = name.removesuffix("_sync")
        parameters = _parameters(unit, declarator)
        if name not in calls or plain in declared or len(parameters) not in (_WITHOUT_WIDTH, _WITH_WIDTH):
            continue
        if parameters[1].kind in types and _only_forwards(unit, node, name, parameters):
            head = unit.data[node.start_byte : declarator.start_byte].decode().strip()
            yield Replacement(node.start_byte, node.end_byte, _rocm_overload(head, plain, parameters).encode())


def _rocm_overload(head: str, name: str, parameters: list[_Parameter]) -> str:
    kind, value, lane = parameters[1].kind, parameters[1].name, parameters[2]
    width = parameters[3] if len(parameters) == _WITH_WIDTH else _Parameter(_WIDTH, "width", "int")
    bits = f"{name}(static_cast<int>({value}.x), {lane.name}, {width.name})"
    return (
        f"{head} {name}({parameters[1].text}, {lane.text}, {width.text}) {{\n"
        f"  return {kind}(static_cast<unsigned short>({bits}), {kind}::from_bits());\n"
        "}"
    )


def _parameters(unit: CudaUnit, declarator: Node) -> list[_Parameter]:
    parameter_list = declarator.child_by_field_name("parameters")
    parameters = []
    for node in [] if parameter_list is None else parameter_list.named_children:
        kind, name = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        if kind is None or name is None or name.type != "identifier":
            return []
        parameters.append(_Parameter(unit.slice(node), unit.slice(name), unit.slice(kind)))
    return parameters


def _only_forwards(unit: CudaUnit, definition: Node, name: str, parameters: list[_Parameter]) -> bool:
    """Whether the body is a single return of a call of that name with the same mask, lane and width."""
    body = definition.child_by_field_name("body")
    lines = [] if body is None else [item for item in body.named_children if item.type != "comment"]
    if len(lines) != 1 or lines[0].type != "return_statement" or not lines[0].named_children:
        return False
    call = lines[0].named_children[0]
    call_arguments = [unit.slice(item) for item in arguments(call)] if call.type == "call_expression" else []
    same = [*call_arguments[:1], *call_arguments[2:]] == [parameters[0].name, *(item.name for item in parameters[2:])]
    return same and function_name(unit, call) == name and call_arguments[1].startswith(parameters[1].name)
