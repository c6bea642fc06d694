"""Uses a file's fallback for older NVIDIA cards on ROCm for atomic additions of half types.

Parameters: call, types, macro (the one that identifies architectures), guard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm3d.apply.guarded_lines import extend_conditions, guard_condition
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import pointee_type, pointee_types
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.guards import IfChain, if_chains
from rocm3d.syntax.lane_masks import arguments, function_name


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`#if __CUDA_ARCH__ < 700` around a loop of atomicCAS accepts ROCm; a file without such a branch is refused."""
    unit, call = CudaUnit("", data), str(parameters["call"])
    offsets = list(_call_offsets(unit, call, list_parameter(parameters, "types")))
    all_chains = if_chains(data)
    fallback_chains = [_fallback_chain(data, all_chains, offset, parameters) for offset in offsets]
    if any(chain is None for chain in fallback_chains):
        raise RewriteRefusedError(
            f"this file has no fallback for older cards: replace {call} by a loop of atomicCAS by hand"
        )
    starts = {chain.branches[0].start for chain in fallback_chains if chain is not None}
    return extend_conditions(data, lambda directive: directive.start in starts, guard_condition(parameters).decode())


def _call_offsets(unit: CudaUnit, name: str, types: tuple[str, ...]) -> Iterator[int]:
    for call in unit.nodes("call_expression"):
        call_arguments = arguments(call)
        is_shared_call = function_name(unit, call) == name and unit.is_shared(call.start_byte)
        if (
            is_shared_call
            and call_arguments
            and pointee_type(unit, call_arguments[0], _pointer_types(unit, call.start_byte)) in types
        ):
            yield call.start_byte


def _pointer_types(unit: CudaUnit, offset: int) -> dict[str, str]:
    """Pointer types in the function around an offset: other functions may use the same names for other types."""
    functions = [node for node in unit.nodes("function_definition") if node.start_byte <= offset < node.end_byte]
    function_unit = (
        unit if not functions else CudaUnit("", unit.data[functions[-1].start_byte : functions[-1].end_byte])
    )
    return dict(pointee_types(function_unit))


def _fallback_chain(data: bytes, all_chains: list[IfChain], offset: int, parameters: Parameters) -> IfChain | None:
    """The innermost `#if older` ... `#else` with the call in the second branch only."""
    older = re.compile(rf"\b{re.escape(str(parameters['macro']))}\s*<=?\s*[0-9]")
    newer = re.compile(rf"!\s*defined|>=?\s*[0-9]|\b{re.escape(str(parameters['macro']))}\s*[=!]=")
    call = str(parameters["call"]).encode()
    enclosing_chains = [chain for chain in all_chains if chain.branches[0].start <= offset < chain.end]
    for chain in reversed(enclosing_chains):
        first, last = chain.branches[0], chain.branches[-1]
        is_older_check = older.search(first.condition) is not None and newer.search(first.condition) is None
        if len(chain.branches) == 2 and chain.has_else and is_older_check and last.start <= offset < last.end:
            return None if call in blanked(data)[first.body_start : first.end] else chain
    return None
