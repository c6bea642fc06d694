"""__ldg on torch's half types: HIP has overloads only for the built-in types and __half.

Only the first call per file is reported, because one overload fixes them all. A pointer to a template type counts if
the file instantiates the template with half types, as torch's dispatch macros do. A ROCm overload in any header of the
repository fixes the calls of all files.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Clue, Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import pointee_type, pointee_types, rocm_shim_names
from rocm3d.syntax.lane_masks import arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANSWERED = "CU308 answered"
_DISPATCH = re.compile(rb"\bAT_DISPATCH_\w*HALF\w*|\b(?:ScalarType::|k)(?:Half|BFloat16)\b")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match | Clue]:
    """Matches the first call on a pointer to one of the code's terms, or to a type that is dispatched over them."""
    if b"__ldg" not in unit.data:
        return
    if any(name.startswith("__ldg") for name in rocm_shim_names(unit)):
        yield Clue(_ANSWERED)
    if _has_overload(unit):
        return
    dispatched = _template_types(unit) if _DISPATCH.search(unit.data) else set()
    half_types = {*context.code.terms, *dispatched}
    known = {name: kind for name, kind in pointee_types(unit) if kind in half_types}
    for call in unit.nodes("call_expression"):
        function, call_arguments = call.child_by_field_name("function"), arguments(call)
        if function is None or not call_arguments or unit.head(function) != "__ldg":
            continue
        kind = pointee_type(unit, call_arguments[0], known)
        if kind in half_types and unit.is_shared(call.start_byte):
            is_certain = kind in context.code.terms
            match = match_at(unit, call, call="__ldg", type=kind if is_certain else f"{kind} that may be a half")
            yield replace(match, severity=None if is_certain else "warning", unless=_ANSWERED)
            return


def _template_types(unit: CudaUnit) -> set[str]:
    kinds = ("type_parameter_declaration", "optional_type_parameter_declaration")
    return {unit.slice(inner) for node in unit.nodes(*kinds) for inner in node.named_children[:1]}


def _has_overload(unit: CudaUnit) -> bool:
    return any(unit.slice(node).startswith("__ldg(") for node in unit.nodes("function_declarator"))


detector = Detector(__name__, code="CU308", unit_types=CudaUnit, find=find)
