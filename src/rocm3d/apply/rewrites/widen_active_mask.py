"""Widens the active mask on ROCm: to the whole wave if the code counts its lanes, else it covers groups of 32.

Parameters: guard.
"""

from __future__ import annotations

from rocm3d.apply.guarded_lines import guard_lines
from rocm3d.apply.lanes import ACTIVE_MASK, FULL_MASK, MASKED_CALLS, LaneCall, group_alias, lane_calls, mask_argument
from rocm3d.apply.macro_aliases import insert_aliases
from rocm3d.apply.wide_masks import widen_wave_calls
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit


def edit(data: bytes, parameters: Parameters) -> bytes:
    """In groups of 32, calls that take such a mask are edited too: HIP's expect 64 bits."""
    unit = CudaUnit("", data)
    wide = widen_wave_calls(unit, lane_calls(unit, [ACTIVE_MASK]), lambda _: "__ballot(1)")
    changed = guard_lines(data, wide, parameters)
    edited_unit = CudaUnit("", changed)
    active = list(lane_calls(edited_unit, [ACTIVE_MASK]))
    if not active:
        return changed
    masked = [call for call in lane_calls(edited_unit, MASKED_CALLS) if _takes_variable(edited_unit, call)]
    return insert_aliases(changed, [group_alias(call) for call in (*active, *masked)], parameters)


def _takes_variable(unit: CudaUnit, call: LaneCall) -> bool:
    return call.node is not None and not FULL_MASK.fullmatch(mask_argument(unit, call.node))
