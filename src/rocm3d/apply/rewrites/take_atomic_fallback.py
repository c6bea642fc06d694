"""Uses a file's fallback for older NVIDIA cards on ROCm for atomic additions of half types.

Parameters: call, types, macro (the one that identifies architectures), guard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.apply.extended_condition import extend_conditions
from rocm3d.apply.guarded_lines import guard_condition
from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.syntax.chains import IfChain, if_chains
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.lanes import arguments, function_name
from rocm3d.syntax.pointers import pointee_type, pointee_types

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`#if __CUDA_ARCH__ < 700` around a loop of atomicCAS accepts ROCm; a file without such a branch is refused."""
    unit, call = CudaUnit("", data), str(parameters["call"])
    places = list(_calls(unit, call, list_parameter(parameters, "types")))
    known = if_chains(data)
    found = [_chain(data, known, place, parameters) for place in places]
    if any(chain is None for chain in found):
        raise RewriteRefusedError(f"this file has no fallback for older cards: replace {call} by a loop of atomicCAS by hand")
    starts = {chain.branches[0].start for chain in found if chain is not None}
    return extend_conditions(data, lambda item: item.start in starts, guard_condition(parameters).decode())


def _calls(unit: CudaUnit, name: str, types: tuple[str, ...]) -> Iterator[int]:
    for call in unit.nodes("call_expression"):
        given = arguments(call)
        here = function_name(unit, call) == name and unit.is_shared(call.start_byte)
        if here and given and pointee_type(unit, given[0], _known(unit, call.start_byte)) in types:
            yield call.start_byte


def _known(unit: CudaUnit, place: int) -> dict[str, str]:
    """Pointer types in the function around an offset: other functions may use the same names for other types."""
    around = [node for node in unit.nodes("function_definition") if node.start_byte <= place < node.end_byte]
    own = unit if not around else CudaUnit("", unit.data[around[-1].start_byte : around[-1].end_byte])
    return dict(pointee_types(own))


def _chain(data: bytes, known: list[IfChain], place: int, parameters: Parameters) -> IfChain | None:
    """The innermost `#if older` ... `#else` with the call in the second branch only."""
    older = re.compile(rf"\b{re.escape(str(parameters['macro']))}\s*<=?\s*[0-9]")
    newer = re.compile(rf"!\s*defined|>=?\s*[0-9]|\b{re.escape(str(parameters['macro']))}\s*[=!]=")
    call = str(parameters["call"]).encode()
    around = [chain for chain in known if chain.branches[0].start <= place < chain.end]
    for chain in reversed(around):
        first, last = chain.branches[0], chain.branches[-1]
        asks = older.search(first.condition) is not None and newer.search(first.condition) is None
        if len(chain.branches) == 2 and chain.has_else and asks and last.start <= place < last.end:
            return None if call in blanked(data)[first.body_start : first.end] else chain
    return None


rewrite = Rewrite(__name__, edit)
