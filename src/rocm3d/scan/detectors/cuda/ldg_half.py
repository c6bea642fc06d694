"""__ldg on torch's half types: HIP has overloads for the built-in types and __half only.

The first such call of a file is reported, because one overload answers them all. A template's pointer counts where the
file instantiates it with the half types, as torch's dispatch macros do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_DISPATCH = re.compile(rb"\bAT_DISPATCH_\w*HALF\w*|\b(?:ScalarType::|k)(?:Half|BFloat16)\b")
_LEFTMOST = re.compile(r"[\s(&*]*(\w+)")


def find(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """The first call whose pointer is to one of the code's terms, or to a type that is dispatched over them."""
    if b"__ldg" not in unit.data or _has_overload(unit):
        return
    dispatched = _templates(unit) if _DISPATCH.search(unit.data) else set()
    pointers = {name: kind for name, kind in _pointers(unit) if kind in look.code.terms or kind in dispatched}
    for call in unit.nodes("call_expression"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None or unit.slice(function) != "__ldg":
            continue
        named = _LEFTMOST.match(unit.slice(arguments)[1:])
        kind = None if named is None else pointers.get(named.group(1))
        kind = kind or next((term for term in look.code.terms if f"{term}*" in _packed(unit, arguments)), None)
        if kind is not None and unit.is_shared(call.start_byte):
            sure = kind in look.code.terms
            place = hit(unit, call, call="__ldg", type=kind if sure else f"{kind} that may be a half")
            yield Hit(place.line, place.column, place.facts, severity=None if sure else "warning")
            return


def _packed(unit: CudaUnit, node: Node) -> str:
    return "".join(unit.slice(node).split())


def _pointers(unit: CudaUnit) -> Iterator[tuple[str, str]]:
    """Names of pointer variables and parameters, with the type they point to."""
    for node in unit.nodes("parameter_declaration", "declaration"):
        kind, name = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        if kind is None or name is None or "*" not in unit.slice(name):
            continue
        found = re.search(r"\*\s*(?:__restrict__\s*|const\s*)*(\w+)", unit.slice(name))
        if found is not None:
            yield found.group(1), unit.slice(kind)


def _templates(unit: CudaUnit) -> set[str]:
    kinds = ("type_parameter_declaration", "optional_type_parameter_declaration")
    return {unit.slice(inner) for node in unit.nodes(*kinds) for inner in node.named_children[:1]}


def _has_overload(unit: CudaUnit) -> bool:
    return any(unit.slice(node).startswith("__ldg(") for node in unit.nodes("function_declarator"))


detector = Detector(__name__, code="CU308", reads=CudaUnit, find=find)
