"""Conditions of `#if` and `#elif` on the rule's terms, which are macros, that ROCm and CUDA builds decide differently.

CUDA builds define the macros, with large numbers; for ROCm builds they are undefined. Chains that mention a ROCm macro
are not searched. Parameters: `translated`, macros that hipify replaces by ones that ROCm defines, in the files that it
reads; `choices`: true if a condition with an `#else` counts also where both builds decide it alike;
`ignore_pragmas`: true if a branch with nothing but pragmas does not count. Fact: guard.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.scan.detector import DetectorContext, Match, Matcher
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.guards import IfBranch, evaluate_condition, if_chains
from rocm3d.syntax.hipify_names import is_read_by_hipify

_MAX_PRAGMA_BYTES = 4096  # longer branches hold more than pragmas; avoids rereading nested branches


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    macros, parameters = context.code.terms, context.parameters
    translated = parameters.get("translated", [])
    on_cuda, on_rocm = dict.fromkeys(macros, True), dict.fromkeys(macros, False)
    if isinstance(translated, list | tuple) and is_read_by_hipify(unit.path):
        on_rocm |= dict.fromkeys(translated, True)
    large, zero = dict.fromkeys(macros, float("inf")), dict.fromkeys(macros, 0.0)
    for chain in if_chains(unit.data):
        if chain.mentions_rocm:
            continue
        for branch in chain.branches:
            if branch.macros.isdisjoint(macros) or not unit.is_shared(branch.start):
                continue
            cuda = evaluate_condition(branch.condition, on_cuda, large)
            differs = cuda != evaluate_condition(branch.condition, on_rocm, zero)
            counts = differs or (parameters.get("choices") and chain.has_else)
            if counts and not (parameters.get("ignore_pragmas") and _has_only_pragmas(blanked(unit.data), branch)):
                line, column = unit.text.position(branch.hash_offset)
                yield Match(line, column, {"guard": " ".join(branch.condition.split())})


def _has_only_pragmas(text: bytes, branch: IfBranch) -> bool:
    """Pragmas usually disable warnings of one compiler."""
    if branch.end - branch.body_start > _MAX_PRAGMA_BYTES:
        return False
    lines = [line.strip() for line in text[branch.body_start : branch.end].splitlines() if line.strip()]
    return bool(lines) and all(line.startswith(b"#") and line[1:].strip().startswith(b"pragma") for line in lines)


matcher = Matcher(
    unit_types=CudaUnit,
    find=find,
    prefilter=contains_term,
    parameters={"translated": list, "choices": (True, False), "ignore_pragmas": (True, False)},
)
