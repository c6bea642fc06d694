"""Drops the 32-bit mask of shuffles and votes on ROCm, and limits them to groups of 32 lanes.

Parameters: calls (shuffles), votes (any and all), width, halves (torch's 16-bit types), guard.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from rocm3d.apply.guarded_lines import Replacement, guard_lines
from rocm3d.apply.lanes import FULL_MASK, LaneCall, group_alias, lane_calls, lanes_of_function, mask_argument
from rocm3d.apply.macro_aliases import insert_aliases
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import arguments, function_name

_VOTE_ARGUMENTS, _WITHOUT_WIDTH, _WITH_WIDTH = 2, 3, 4
_WIDTH = "const int width = warpSize"


@dataclass(frozen=True)
class _Parameter:
    """The complete source text of a parameter, its name, and its type."""

    text: str
    name: str
    kind: str


def edit(data: bytes, parameters: Parameters) -> bytes:
    """A shuffle without mask reads any lane of the wave; a width limits it to the group that the CUDA code means.

    A function that counts lanes with warpSize means the whole wave and gets no width.
    """
    # Votes first: guarded lines are not edited again.
    data = _with_edited_votes(data, parameters)
    unit = CudaUnit("", data)
    calls = set(list_parameter(parameters, "calls"))
    replacements = []
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        if function is None or not unit.is_shared(call.start_byte):
            continue
        # A mask that is computed at run time may select lanes.
        if unit.slice(function).removeprefix("::") in calls and FULL_MASK.fullmatch(mask_argument(unit, call)):
            replacements.append(
                _shuffle_without_mask(unit, call, unit.slice(function), arguments(call), str(parameters["width"]))
            )
    replacements += _overloads(unit, calls, list_parameter(parameters, "halves"))
    replacements.sort(key=lambda replacement: replacement.start)
    _refuse_nested(replacements)
    return guard_lines(data, replacements, parameters)


def _with_edited_votes(data: bytes, parameters: Parameters) -> bytes:
    """Votes of 32 lanes become an alias, as HIP has no counterpart; votes of the whole wave lose the mask."""
    unit = CudaUnit("", data)
    calls = list(lane_calls(unit, list_parameter(parameters, "votes")))
    changed = insert_aliases(data, [group_alias(call) for call in calls if call.lanes == "group"], parameters)
    unit = CudaUnit("", changed)
    wave_votes = [_wave_vote(unit, call) for call in lane_calls(unit, list_parameter(parameters, "votes"))]
    return guard_lines(changed, wave_votes, parameters)


def _wave_vote(unit: CudaUnit, call: LaneCall) -> Replacement:
    call_arguments = [] if call.node is None else arguments(call.node)
    if (
        call.node is None
        or len(call_arguments) != _VOTE_ARGUMENTS
        or not FULL_MASK.fullmatch(unit.slice(call_arguments[0]))
    ):
        raise RewriteRefusedError(f"{call.name} has a mask that may exclude lanes, or is inside a macro")
    return Replacement.of(call.node, f"{call.name.removesuffix('_sync')}({unit.slice(call_arguments[1])})")


def _shuffle_without_mask(unit: CudaUnit, call: Node, name: str, call_arguments: list[Node], width: str) -> Replacement:
    if len(call_arguments) not in (_WITHOUT_WIDTH, _WITH_WIDTH):
        raise RewriteRefusedError(
            f"{name} has {len(call_arguments)} arguments instead of {_WITHOUT_WIDTH} or {_WITH_WIDTH}"
        )
    value, lane = (unit.slice(argument) for argument in call_arguments[1:3])
    call_width = unit.slice(call_arguments[3]) if len(call_arguments) == _WITH_WIDTH else "warpSize"
    if call_width == "warpSize" and lanes_of_function(unit, call) == "wave":
        return Replacement.of(call, f"{name.removesuffix('_sync')}({value}, {lane})")
    if call_width == "warpSize":  # 32 in CUDA code, 64 lanes on CDNA
        call_width = width
    if not call_width.isdecimal() or int(call_width) > int(width):
        raise RewriteRefusedError(f"{name} has the width {call_width}, which may exceed {width}")
    return Replacement.of(call, f"{name.removesuffix('_sync')}({value}, {lane}, {call_width})")


def _refuse_nested(replacements: list[Replacement]) -> None:
    for first, second in itertools.pairwise(replacements):
        if second.start < first.end:
            raise RewriteRefusedError("a shuffle is nested in another one")


def _overloads(unit: CudaUnit, calls: Collection[str], types: Collection[str]) -> Iterator[Replacement]:
    """The file's own overloads that only forward a value of one of the types: on ROCm they shuffle the bits.

    HIP has shuffles for built-in types only. A half converts to several of them, so a plain call would be ambiguous.
    """
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
            yield Replacement.of(node, _rocm_overload(head, plain, parameters))


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
