"""Which builds compile the code of a finding: two parameters that matchers over C++ and CUDA files share.

`builds`: `both` (default), findings only in code that ROCm and CUDA builds compile; `rocm`, in code that ROCm builds
may compile, unless a condition on the target or on the wave size encloses it.

`shim`: a name, which may end in a {placeholder} for a fact that is a term: `{call}`. There is no finding if a file of
the repository defines that name for ROCm only. A name with `(` includes the type of the first parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rocm3d.scan.detector import Clue, DetectorContext, Match
from rocm3d.syntax.declarations import rocm_shim_names
from rocm3d.syntax.guards import PreprocessorContext

if TYPE_CHECKING:
    from rocm3d.syntax.cuda import CudaUnit

PARAMETERS: Mapping[str, Any] = {"builds": ("both", "rocm"), "shim": str}


def relevance(unit: CudaUnit, context: DetectorContext) -> Callable[[int], bool]:
    """Whether code at a byte offset belongs to the builds of the rule."""
    if context.parameters.get("builds") != "rocm":
        return unit.is_shared
    surroundings = PreprocessorContext.of(unit.data)
    return lambda offset: surroundings.can_compile_for_rocm(offset) and not surroundings.is_target_specific(offset)


def unless_shimmed(unit: CudaUnit, context: DetectorContext, matches: Iterable[Match]) -> Iterator[Match | Clue]:
    """The matches, which wait for the shims of other files, and the shims of this file."""
    shim, code = str(context.parameters.get("shim", "")), context.code.code
    if not shim:
        yield from matches
        return
    names = {name if "(" in shim else name.split("(")[0] for name in rocm_shim_names(unit)}
    yield from (Clue(f"{code} {name}") for name in sorted(names) if _can_answer(name, shim, context))
    for match in matches:
        yield replace(match, unless=f"{code} {shim.format_map(match.facts)}")


def _can_answer(name: str, shim: str, context: DetectorContext) -> bool:
    before, has_placeholder, _ = shim.partition("{")
    if not has_placeholder:
        return name == shim
    return name.startswith(before) and bool(context.reason(name.removeprefix(before)))
