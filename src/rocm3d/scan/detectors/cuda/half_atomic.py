"""atomicAdd on half or bfloat16: HIP has it only for integers, float and double. The code's terms list the types.

Only the first call per type and file is reported, because one overload fixes them all. A ROCm overload in any header of
the repository fixes all files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Clue, Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import pointee_type, pointee_types, rocm_shim_names
from rocm3d.syntax.lane_masks import arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALL = "atomicAdd"


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match | Clue]:
    """Matches calls whose first argument points to one of the types, unless the file declares the overload."""
    yield from (Clue(_clue_name(kind)) for kind in context.code.terms if f"{_CALL}({kind}" in rocm_shim_names(unit))
    reported = {kind for kind in context.code.terms if kind in _declared_types(unit)}
    pointer_types = {name: kind for name, kind in pointee_types(unit) if kind in context.code.terms}
    for call in unit.nodes("call_expression"):
        function, call_arguments = call.child_by_field_name("function"), arguments(call)
        if function is None or unit.head(function).removeprefix("::") != _CALL or len(call_arguments) < 2:
            continue
        kind = pointee_type(unit, call_arguments[0], pointer_types)
        if kind in context.code.terms and kind not in reported and unit.is_shared(call.start_byte):
            reported.add(kind)
            yield replace(match_at(unit, call, call=_CALL, type=kind), unless=_clue_name(kind))


def _clue_name(kind: str) -> str:
    return f"{detector.code} {kind}"


def _declared_types(unit: CudaUnit) -> set[str]:
    """The types for which the file declares atomicAdd."""
    types = set()
    for node in unit.nodes("function_declarator"):
        name, parameters = node.child_by_field_name("declarator"), node.child_by_field_name("parameters")
        if name is not None and parameters is not None and unit.slice(name) == _CALL:
            kinds = (parameter.child_by_field_name("type") for parameter in parameters.named_children[:1])
            types |= {unit.slice(kind) for kind in kinds if kind is not None}
    return types


detector = Detector(__name__, code="CU313", unit_types=CudaUnit, find=find, prefilter=(_CALL.encode(),))
