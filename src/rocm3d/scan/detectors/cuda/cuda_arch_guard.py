"""An `#if` on __CUDA_ARCH__ without a HIP branch: HIP's device pass does not define the macro."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.guards import IfChain, evaluate_condition, if_chains

if TYPE_CHECKING:
    from collections.abc import Iterator

_MACRO = "__CUDA_ARCH__"


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches branches that HIP and a recent NVIDIA GPU decide differently, and choices of an implementation."""
    if _MACRO.encode() not in unit.data:
        return
    for chain in if_chains(unit.data):
        for branch in chain.branches:
            if _MACRO in branch.macros and unit.is_shared(branch.start) and _differs_on_hip(chain, branch.condition):
                line, column = unit.text.position(branch.hash_offset)
                yield Match(line, column, {"guard": " ".join(branch.condition.split())})


def _differs_on_hip(chain: IfChain, text: str) -> bool:
    """Whether HIP needs its own branch. A workaround for old GPUs without #else is skipped on HIP as well."""
    if chain.mentions_rocm:
        return False
    hip = evaluate_condition(text, {_MACRO: False}, {_MACRO: 0})
    recent = evaluate_condition(text, {_MACRO: True}, {_MACRO: float("inf")})
    return hip != recent or chain.has_else


detector = Detector(__name__, code="CU501", unit_types=CudaUnit, find=find)
