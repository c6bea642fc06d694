"""Shuffles and votes lose their 32-bit mask on ROCm and keep to groups of 32 lanes.

Parameters: calls (shuffles), votes (any and all), width, halves (types of two bytes that torch has), guard.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from rocm3d.apply.aliased_text import with_aliases
from rocm3d.apply.guarded_lines import Replacement, guard_lines
from rocm3d.apply.lane_calls import FULL, LaneCall, group_use, lane_calls, mask_of
from rocm3d.apply.lane_groups import lanes_meant
from rocm3d.apply.rewrite import Refuse, Rewrite, words
from rocm3d.apply.shuffle_overloads import overloads
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lanes import arguments

if TYPE_CHECKING:
    from tree_sitter import Node

    from rocm3d.model.recipe import Parameters

_VOTE, _WITHOUT_WIDTH, _WITH_WIDTH = 2, 3, 4


def edit(data: bytes, parameters: Parameters) -> bytes:
    """The maskless shuffle reads any lane of the wave; a width makes it the group that the CUDA code means.

    A function that counts lanes with warpSize means the wave itself, and gets no width.
    """
    # Votes first: a guarded copy of a line is nobody's to edit any more.
    data = _votes(data, parameters)
    unit = CudaUnit("", data)
    calls = set(words(parameters, "calls"))
    found = []
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        if function is None or not unit.is_shared(call.start_byte):
            continue
        # A mask made at run time may say who takes part.
        if unit.slice(function).removeprefix("::") in calls and FULL.fullmatch(mask_of(unit, call)):
            found.append(_replacement(unit, call, unit.slice(function), arguments(call), str(parameters["width"])))
    found += overloads(unit, calls, words(parameters, "halves"))
    found.sort(key=lambda item: item.start)
    _refuse_nested(found)
    return guard_lines(data, found, parameters)


def _votes(data: bytes, parameters: Parameters) -> bytes:
    """Through an alias, as a vote of 32 lanes has no counterpart in HIP; over the wave without a mask."""
    unit = CudaUnit("", data)
    calls = list(lane_calls(unit, words(parameters, "votes")))
    changed = with_aliases(data, [group_use(call) for call in calls if call.lanes == "group"], parameters)
    unit = CudaUnit("", changed)
    wide = [_vote_of_the_wave(unit, call) for call in lane_calls(unit, words(parameters, "votes"))]
    return guard_lines(changed, wide, parameters)


def _vote_of_the_wave(unit: CudaUnit, call: LaneCall) -> Replacement:
    given = [] if call.node is None else arguments(call.node)
    if call.node is None or len(given) != _VOTE or not FULL.fullmatch(unit.slice(given[0])):
        raise Refuse(f"{call.name} takes a mask that not every lane may be in, or stands in a macro")
    text = f"{call.name.removesuffix('_sync')}({unit.slice(given[1])})"
    return Replacement(call.node.start_byte, call.node.end_byte, text.encode())


def _replacement(unit: CudaUnit, call: Node, name: str, given: list[Node], width: str) -> Replacement:
    if len(given) not in (_WITHOUT_WIDTH, _WITH_WIDTH):
        raise Refuse(f"{name} has {len(given)} arguments")
    value, lane = (unit.slice(item) for item in given[1:3])
    asked = unit.slice(given[3]) if len(given) == _WITH_WIDTH else "warpSize"
    if asked == "warpSize" and lanes_meant(unit, call) == "wave":
        return Replacement(call.start_byte, call.end_byte, f"{name.removesuffix('_sync')}({value}, {lane})".encode())
    if asked == "warpSize":  # 32 to the CUDA code, 64 lanes on CDNA
        asked = width
    if not asked.isdecimal() or int(asked) > int(width):
        raise Refuse(f"{name} takes the width {asked}, which may be more than {width}")
    text = f"{name.removesuffix('_sync')}({value}, {lane}, {asked})"
    return Replacement(call.start_byte, call.end_byte, text.encode())


def _refuse_nested(found: list[Replacement]) -> None:
    for one, other in itertools.pairwise(found):
        if other.start < one.end:
            raise Refuse("a shuffle stands inside another")


rewrite = Rewrite(__name__, edit)
