"""atomicAdd on half or bfloat16: HIP has it only for integers, float and double. The code's terms list the types.

Only the first call per type and file is reported, because one overload fixes them all. A ROCm overload in any header of
the repository fixes all files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Clue, Detector, Match, DetectorContext, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lanes import arguments
from rocm3d.syntax.own_names import rocm_shim_names
from rocm3d.syntax.pointers import pointee_type, pointee_types

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALL = "atomicAdd"


def find(unit: CudaUnit, look: DetectorContext) -> Iterator[Match | Clue]:
    """Matches calls whose first argument points to one of the types, unless the file declares the overload."""
    yield from (Clue(_answered(kind)) for kind in look.code.terms if f"{_CALL}({kind}" in rocm_shim_names(unit))
    told = {kind for kind in look.code.terms if kind in _own(unit)}
    known = {name: kind for name, kind in pointee_types(unit) if kind in look.code.terms}
    for call in unit.nodes("call_expression"):
        function, given = call.child_by_field_name("function"), arguments(call)
        if function is None or unit.head(function).removeprefix("::") != _CALL or len(given) < 2:
            continue
        kind = pointee_type(unit, given[0], known)
        if kind in look.code.terms and kind not in told and unit.is_shared(call.start_byte):
            told.add(kind)
            yield replace(match_at(unit, call, call=_CALL, type=kind), unless=_answered(kind))


def _answered(kind: str) -> str:
    return f"{detector.code} {kind}"


def _own(unit: CudaUnit) -> set[str]:
    """The types for which the file declares atomicAdd."""
    found = set()
    for node in unit.nodes("function_declarator"):
        name, taken = node.child_by_field_name("declarator"), node.child_by_field_name("parameters")
        if name is not None and taken is not None and unit.slice(name) == _CALL:
            kinds = (item.child_by_field_name("type") for item in taken.named_children[:1])
            found |= {unit.slice(kind) for kind in kinds if kind is not None}
    return found


detector = Detector(__name__, code="CU313", unit_types=CudaUnit, find=find, prefilter=(_CALL.encode(),))
