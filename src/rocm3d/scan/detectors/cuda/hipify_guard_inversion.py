"""An #if chain that tests CUDA and ROCm macros: hipify rewrites the CUDA macro, and ROCm builds another branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.guards import IfChain, assume_rocm, evaluate_condition, if_chains, is_rocm_macro

if TYPE_CHECKING:
    from collections.abc import Iterator

_REWRITTEN = frozenset({"USE_CUDA", "__CUDACC__"})


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches chains of which ROCm builds one branch before the translation and another one after it."""
    if not any(name.encode() in unit.data for name in _REWRITTEN):
        return
    for chain in if_chains(unit.data):
        first = chain.branches[0].start
        if not chain.mentions_rocm or not (first == 0 or unit.is_shared(first - 1) or unit.is_shared(chain.end)):
            continue
        rewritten_branch = next((branch for branch in chain.branches if not branch.macros.isdisjoint(_REWRITTEN)), None)
        if rewritten_branch is not None and _changes_branch(chain):
            line, column = unit.text.position(rewritten_branch.hash_offset)
            yield Match(line, column, {"guard": " ".join(rewritten_branch.condition.split())})


def _changes_branch(chain: IfChain) -> bool:
    """Whether after the translation ROCm builds a branch that was not written for it."""
    before, after = _built_branch(chain, translated=False), _built_branch(chain, translated=True)
    if before is None or after is None or before == after:
        return False
    return after < 0 or not any(is_rocm_macro(macro) for macro in chain.branches[after].macros)


def _built_branch(chain: IfChain, *, translated: bool) -> int | None:
    """The index of the branch that a ROCm build takes, -1 for no branch, None if it depends on other macros."""
    for number, branch in enumerate(chain.branches):
        known = {macro: assume_rocm(macro) for macro in branch.macros} | dict.fromkeys(_REWRITTEN, translated)
        is_taken = evaluate_condition(
            branch.condition, {macro: value for macro, value in known.items() if value is not None}, {}
        )
        if is_taken is not False:
            return number if is_taken else None
    return -1


detector = Detector(__name__, code="CU505", unit_types=CudaUnit, find=find)
