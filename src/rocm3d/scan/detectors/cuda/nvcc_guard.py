"""An `#if` that tests for nvcc: hipcc defines __HIPCC__, and hipify rewrites only __CUDACC__, in the files it reads."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.guards import IfBranch, evaluate_condition, if_chains

if TYPE_CHECKING:
    from collections.abc import Iterator

_TRANSLATED = "__CUDACC__"
_MAX_PRAGMA_BYTES = 4096  # longer branches hold more than pragmas; avoids rereading nested branches


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches conditions without a HIP branch that nvcc and hipcc decide differently, around more than pragmas."""
    names = context.code.terms
    if not any(name.encode() in unit.data for name in names):
        return
    unreached = PurePosixPath(unit.path).suffix in context.knowledge.codes["CU506"].terms
    nvcc: dict[str, bool] = dict.fromkeys(names, True)
    hipcc = dict.fromkeys(names, False) | {_TRANSLATED: not unreached}
    text = blanked(unit.data)
    for chain in if_chains(unit.data):
        for branch in chain.branches:
            if chain.mentions_rocm or branch.macros.isdisjoint(names) or not unit.is_shared(branch.start):
                continue
            recent, zero = dict.fromkeys(names, float("inf")), dict.fromkeys(names, 0.0)
            if evaluate_condition(branch.condition, nvcc, recent) != evaluate_condition(
                branch.condition, hipcc, zero
            ) and not _contains_only_pragmas(text, branch):
                line, column = unit.text.position(branch.hash_offset)
                yield Match(line, column, {"guard": " ".join(branch.condition.split())})


def _contains_only_pragmas(text: bytes, branch: IfBranch) -> bool:
    """Whether a branch contains only pragmas, which usually disable warnings of nvcc."""
    if branch.end - branch.body_start > _MAX_PRAGMA_BYTES:
        return False
    lines = [line.strip() for line in text[branch.body_start : branch.end].splitlines() if line.strip()]
    return bool(lines) and all(line.startswith(b"#") and line[1:].strip().startswith(b"pragma") for line in lines)


detector = Detector(__name__, code="CU502", unit_types=CudaUnit, find=find)
