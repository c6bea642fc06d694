"""Builds `__match_any_sync` from ballots on ROCm: over the whole wave if the code counts its lanes, else per 32 lanes.

Parameters: call, others (builtins with the same finding code that need a manual edit), guard.
"""

from __future__ import annotations

from rocm3d.apply.device_helpers import helper_sources
from rocm3d.apply.guarded_lines import Replacement, guard_lines, insert_guarded, offset_after_includes
from rocm3d.apply.lane_calls import FULL_MASK, LaneCall, group_alias, lane_calls, mask_argument
from rocm3d.apply.macro_aliases import insert_aliases
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.wide_masks import widen_mask
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import arguments

_ACTIVE = "__activemask"


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits whole-wave calls as guarded copies of their lines, then the other calls through an alias."""
    unit, name = CudaUnit("", data), str(parameters["call"])
    calls = list(lane_calls(unit, [name]))
    is_edited = b"rocm3d_wave_peers" in data
    others = [] if calls or is_edited else list(lane_calls(unit, list_parameter(parameters, "others")))
    if others:
        raise RewriteRefusedError(f"{others[0].name} needs a manual edit: over 32 lanes it becomes a tree of shuffles")
    wide = [replacement for call in calls if call.lanes == "wave" for replacement in _wave_match(unit, call)]
    changed = guard_lines(data, list(dict.fromkeys(wide)), parameters)
    if wide:
        insert_at = offset_after_includes(changed, min(replacement.start for replacement in wide))
        changed = insert_guarded(changed, insert_at, helper_sources(["wave_peers"]).encode(), parameters)
    edited_unit = CudaUnit("", changed)
    uses = [
        group_alias(call)
        for call in lane_calls(edited_unit, [name, _ACTIVE])
        if _is_match_or_its_mask(edited_unit, call, name)
    ]
    return insert_aliases(changed, uses, parameters)


def _wave_match(unit: CudaUnit, call: LaneCall) -> list[Replacement]:
    if call.node is None:
        raise RewriteRefusedError(f"{call.name} over the whole wave is inside a macro")
    mask, call_arguments = mask_argument(unit, call.node), arguments(call.node)
    if len(call_arguments) != 2 or not (FULL_MASK.fullmatch(mask) or mask == f"{_ACTIVE}()"):
        raise RewriteRefusedError(f"{call.name} has a mask that may exclude lanes")
    return widen_mask(unit, call.node, f"rocm3d_wave_peers({unit.slice(call_arguments[1])})")


def _is_match_or_its_mask(unit: CudaUnit, call: LaneCall, name: str) -> bool:
    """Whether a call is the match itself, or the active mask as its argument."""
    if call.name == name:
        return True
    outer = unit.parents[unit.parents[call.node.id].id] if call.node is not None else None
    return outer is not None and outer.type == "call_expression" and mask_argument(unit, outer).startswith(_ACTIVE)
