"""Widens calls that return a mask of lanes on ROCm: to the whole wave if the code counts its lanes, else per 32 lanes.

Parameters: calls, wave (the function for a whole wave), helper (a file of device/ that defines it), masks (that exclude
no active lane, besides literals), others (builtins with the same finding code that need a manual edit), guard.
"""

from __future__ import annotations

from rocm3d.apply.guarded_lines import guard_lines, insert_helpers
from rocm3d.apply.lanes import ACTIVE_MASK, FULL_MASK, LaneCall, group_alias, lane_calls, mask_argument
from rocm3d.apply.macro_aliases import insert_aliases
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.wide_masks import widen_wave_calls
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import arguments


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits whole-wave calls as guarded copies of their lines, then the other calls through an alias."""
    unit, names, wave = CudaUnit("", data), list_parameter(parameters, "calls"), str(parameters["wave"])
    calls = list(lane_calls(unit, names))
    others = [] if calls or wave.encode() in data else list(lane_calls(unit, list_parameter(parameters, "others")))
    if others:
        raise RewriteRefusedError(f"{others[0].name} needs a manual edit: over 32 lanes it becomes a tree of shuffles")
    wide = widen_wave_calls(unit, calls, lambda call: f"{wave}({_value(unit, call, parameters)})")
    changed = guard_lines(data, wide, parameters)
    if wide and "helper" in parameters:
        changed = insert_helpers(changed, list_parameter(parameters, "helper"), parameters, wide)
    edited_unit = CudaUnit("", changed)
    uses = [
        group_alias(call)
        for call in lane_calls(edited_unit, (*names, ACTIVE_MASK))
        if call.name in names or _is_mask_argument(edited_unit, call)
    ]
    return insert_aliases(changed, uses, parameters)


def _value(unit: CudaUnit, call: LaneCall, parameters: Parameters) -> str:
    """The argument after the mask, which must cover all active lanes."""
    call_arguments = [unit.slice(node) for node in arguments(call.node)] if call.node else []
    is_full = call_arguments[:1] and FULL_MASK.fullmatch(call_arguments[0])
    if len(call_arguments) != 2 or not (is_full or call_arguments[0] in list_parameter(parameters, "masks")):
        raise RewriteRefusedError(f"{call.name} has a mask that may exclude lanes")
    return call_arguments[1]


def _is_mask_argument(unit: CudaUnit, call: LaneCall) -> bool:
    """Whether the active mask is the argument of such a call: HIP's have 64 bits."""
    outer = unit.parents[unit.parents[call.node.id].id] if call.node is not None else None
    return outer is not None and outer.type == "call_expression" and mask_argument(unit, outer).startswith(call.name)
