"""Drops the 32-bit mask of shuffles and votes on ROCm, and limits them to groups of 32 lanes.

Parameters: calls (shuffles), votes (any and all), width, halves (torch's 16-bit types), guard.
"""

from __future__ import annotations

import itertools

from tree_sitter import Node

from rocm3d.apply.guarded_lines import Replacement, guard_lines
from rocm3d.apply.lane_calls import FULL_MASK, LaneCall, group_alias, lane_calls, mask_argument
from rocm3d.apply.lane_groups import lanes_of_function
from rocm3d.apply.macro_aliases import insert_aliases
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.shuffle_overloads import overloads
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import arguments

_VOTE_ARGUMENTS, _WITHOUT_WIDTH, _WITH_WIDTH = 2, 3, 4


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
    replacements += overloads(unit, calls, list_parameter(parameters, "halves"))
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
    text = f"{call.name.removesuffix('_sync')}({unit.slice(call_arguments[1])})"
    return Replacement(call.node.start_byte, call.node.end_byte, text.encode())


def _shuffle_without_mask(unit: CudaUnit, call: Node, name: str, call_arguments: list[Node], width: str) -> Replacement:
    if len(call_arguments) not in (_WITHOUT_WIDTH, _WITH_WIDTH):
        raise RewriteRefusedError(
            f"{name} has {len(call_arguments)} arguments instead of {_WITHOUT_WIDTH} or {_WITH_WIDTH}"
        )
    value, lane = (unit.slice(argument) for argument in call_arguments[1:3])
    call_width = unit.slice(call_arguments[3]) if len(call_arguments) == _WITH_WIDTH else "warpSize"
    if call_width == "warpSize" and lanes_of_function(unit, call) == "wave":
        return Replacement(call.start_byte, call.end_byte, f"{name.removesuffix('_sync')}({value}, {lane})".encode())
    if call_width == "warpSize":  # 32 in CUDA code, 64 lanes on CDNA
        call_width = width
    if not call_width.isdecimal() or int(call_width) > int(width):
        raise RewriteRefusedError(f"{name} has the width {call_width}, which may exceed {width}")
    text = f"{name.removesuffix('_sync')}({value}, {lane}, {call_width})"
    return Replacement(call.start_byte, call.end_byte, text.encode())


def _refuse_nested(replacements: list[Replacement]) -> None:
    for first, second in itertools.pairwise(replacements):
        if second.start < first.end:
            raise RewriteRefusedError("a shuffle is nested in another one")
