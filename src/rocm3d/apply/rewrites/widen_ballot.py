"""Widens ballots on ROCm: to the whole wave if the code counts its lanes, else they cover groups of 32.

Parameters: calls, guard.
"""

from __future__ import annotations

from rocm3d.apply.guarded_lines import Replacement, guard_lines
from rocm3d.apply.lane_calls import FULL_MASK, LaneCall, group_alias, lane_calls, mask_argument
from rocm3d.apply.macro_aliases import insert_aliases
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.wide_masks import widen_mask
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import arguments


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits whole-wave calls as guarded copies of their lines, then the other calls through an alias."""
    unit, names = CudaUnit("", data), list_parameter(parameters, "calls")
    wide = [
        replacement
        for call in lane_calls(unit, names)
        if call.lanes == "wave"
        for replacement in _wave_ballot(unit, call)
    ]
    changed = guard_lines(data, list(dict.fromkeys(wide)), parameters)
    edited_unit = CudaUnit("", changed)
    uses = [
        group_alias(call)
        for call in lane_calls(edited_unit, (*names, "__activemask"))
        if _is_ballot_or_its_mask(edited_unit, call, names)
    ]
    return insert_aliases(changed, uses, parameters)


def _wave_ballot(unit: CudaUnit, call: LaneCall) -> list[Replacement]:
    if call.node is None:
        raise RewriteRefusedError(f"{call.name} over the whole wave is inside a macro")
    call_arguments = arguments(call.node)
    if len(call_arguments) != 2 or not FULL_MASK.fullmatch(unit.slice(call_arguments[0])):
        raise RewriteRefusedError(f"{call.name} has a mask that may exclude lanes")
    return widen_mask(unit, call.node, f"__ballot({unit.slice(call_arguments[1])})")


def _is_ballot_or_its_mask(unit: CudaUnit, call: LaneCall, names: tuple[str, ...]) -> bool:
    """Whether a call is a ballot, or the active mask as argument of one: HIP's have 64 bits."""
    if call.name in names:
        return True
    outer = unit.parents[unit.parents[call.node.id].id] if call.node is not None else None
    return outer is not None and outer.type == "call_expression" and mask_argument(unit, outer).startswith(call.name)
