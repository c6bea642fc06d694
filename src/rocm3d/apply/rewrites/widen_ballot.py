"""Widens ballots on ROCm: to the whole wave if the code counts its lanes, else they cover groups of 32.

Parameters: calls, guard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.apply.aliased_text import insert_aliases
from rocm3d.apply.guarded_lines import guard_lines
from rocm3d.apply.lane_calls import FULL_MASK, LaneCall, group_alias, lane_calls, mask_argument
from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.apply.wide_masks import widen_mask
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lanes import arguments

if TYPE_CHECKING:
    from rocm3d.apply.guarded_lines import Replacement
    from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits whole-wave calls as guarded copies of their lines, then the other calls through an alias."""
    unit, names = CudaUnit("", data), list_parameter(parameters, "calls")
    wide = [item for call in lane_calls(unit, names) if call.lanes == "wave" for item in _wide(unit, call)]
    changed = guard_lines(data, list(dict.fromkeys(wide)), parameters)
    left = CudaUnit("", changed)
    uses = [
        group_alias(call) for call in lane_calls(left, (*names, "__activemask")) if _is_mask_or_vote(left, call, names)
    ]
    return insert_aliases(changed, uses, parameters)


def _wide(unit: CudaUnit, call: LaneCall) -> list[Replacement]:
    if call.node is None:
        raise RewriteRefusedError(f"{call.name} over the whole wave is inside a macro")
    given = arguments(call.node)
    if len(given) != 2 or not FULL_MASK.fullmatch(unit.slice(given[0])):
        raise RewriteRefusedError(f"{call.name} has a mask that may exclude lanes")
    return widen_mask(unit, call.node, f"__ballot({unit.slice(given[1])})")


def _is_mask_or_vote(unit: CudaUnit, call: LaneCall, names: tuple[str, ...]) -> bool:
    """Whether a call is a ballot, or the active mask as argument of one: HIP's have 64 bits."""
    if call.name in names:
        return True
    outer = unit.parents[unit.parents[call.node.id].id] if call.node is not None else None
    return outer is not None and outer.type == "call_expression" and mask_argument(unit, outer).startswith(call.name)


rewrite = Rewrite(__name__, edit)
