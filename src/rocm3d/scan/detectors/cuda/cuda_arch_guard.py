"""An `#if` on __CUDA_ARCH__ without a HIP side: the macro does not exist in HIP's device pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look
from rocm3d.syntax.chains import Chain, chains, decided
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_MACRO = "__CUDA_ARCH__"


def find(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """Branches that HIP decides otherwise than a recent NVIDIA GPU, and choices between two implementations."""
    if _MACRO.encode() not in unit.data:
        return
    for chain in chains(unit.data):
        for branch in chain.branches:
            if _MACRO in branch.macros and unit.is_shared(branch.start) and _matters(chain, branch.text):
                line, column = unit.text.place(branch.at)
                yield Hit(line, column, {"guard": " ".join(branch.text.split())})


def _matters(chain: Chain, text: str) -> bool:
    """A one-sided workaround for old GPUs is left out on HIP too; a choice needs somebody to choose for HIP."""
    if chain.knows_hip:
        return False
    hip = decided(text, {_MACRO: False}, {_MACRO: 0})
    recent = decided(text, {_MACRO: True}, {_MACRO: float("inf")})
    return hip != recent or chain.has_else


detector = Detector(__name__, code="CU501", reads=CudaUnit, find=find)
