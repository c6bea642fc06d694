"""Shuffles lose their 32-bit mask on ROCm and keep to groups of 32 lanes. Parameters: calls, width, guard."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from rocm3d.apply.guarded_lines import Replacement, guard_lines
from rocm3d.apply.lane_groups import lanes_meant
from rocm3d.apply.rewrite import Refuse, Rewrite, words
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from tree_sitter import Node

    from rocm3d.model.recipe import Parameters

# All 32 lanes, written out or named as a macro: a mask made at run time may say who takes part.
_FULL = re.compile(r"0[xX][fF]{8}[uU]?|~0[uU]?|-1|[A-Z][A-Z0-9_]*")
_WITHOUT_WIDTH, _WITH_WIDTH = 3, 4


def edit(data: bytes, parameters: Parameters) -> bytes:
    """The maskless shuffle reads any lane of the wave; a width makes it the group that the CUDA code means.

    A function that counts lanes with warpSize means the wave itself, and gets no width.
    """
    unit = CudaUnit("", data)
    calls = set(words(parameters, "calls"))
    found = []
    for call in unit.nodes("call_expression"):
        function, given = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or given is None or not unit.is_shared(call.start_byte):
            continue
        given_mask = _arguments(given)[:1]
        if (
            unit.slice(function).removeprefix("::") in calls
            and given_mask
            and _FULL.fullmatch(unit.slice(given_mask[0]))
        ):
            found.append(_replacement(unit, call, unit.slice(function), _arguments(given), str(parameters["width"])))
    _refuse_nested(found)
    return guard_lines(data, found, parameters)


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


def _arguments(given: Node) -> list[Node]:
    return [item for item in given.named_children if item.type != "comment"]


def _refuse_nested(found: list[Replacement]) -> None:
    for one, other in itertools.pairwise(found):
        if other.start < one.end:
            raise Refuse("a shuffle stands inside another")


rewrite = Rewrite(__name__, edit)
