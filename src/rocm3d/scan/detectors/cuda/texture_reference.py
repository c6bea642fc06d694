"""Texture references, which CUDA 12 and HIP have removed, and uses of textures that HIP does not support.

Texture objects are fine: `tex2D<float>(object, x, y)` does not match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFERENCE, _BIND, _UNBIND = "texture<", "cudaBindTexture", "cudaUnbindTexture"
_LINEAR, _BY_ELEMENT = "cudaFilterModeLinear", "cudaReadModeElementType"


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Declarations and bindings are errors. Unsupported uses of texture objects are warnings, once per name."""
    terms = context.code.terms
    kinds = unit.nodes("class_specifier", "struct_specifier")
    has_own_texture_type = any(
        name is not None and unit.slice(name) == "texture" for name in (k.child_by_field_name("name") for k in kinds)
    )
    for declaration in unit.nodes("declaration"):
        kind, name = declaration.child_by_field_name("type"), declaration.child_by_field_name("declarator")
        if kind is None or name is None or kind.type != "template_type" or not unit.is_shared(declaration.start_byte):
            continue
        if unit.slice(kind).replace(" ", "").startswith(_REFERENCE) and not has_own_texture_type:
            yield match_at(unit, declaration, name=unit.slice(name), why=terms[_REFERENCE])
    by_element = any(unit.slice(node) == _BY_ELEMENT for node in unit.nodes("identifier", "type_identifier"))
    reported: set[str] = set()
    for node in unit.nodes("identifier"):
        called = unit.slice(node)
        term = _BIND if called.startswith((_BIND, _UNBIND)) else called
        if term not in terms or not unit.is_shared(node.start_byte):
            continue
        if term == _BIND:
            yield match_at(unit, node, name=called, why=terms[term])
        elif called not in reported and (called != _LINEAR or by_element):
            reported.add(called)
            match = match_at(unit, node, name=called, why=terms[term])
            yield Match(match.line, match.column, match.facts, severity="warning")


def _can_match(unit: CudaUnit, context: DetectorContext) -> bool:
    """A declaration may contain spaces (`texture <`), and unbind calls are reported under the bind term."""
    return b"texture" in unit.data or _UNBIND.encode() in unit.data or contains_term(unit, context)


detector = Detector(__name__, code="CU404", unit_types=CudaUnit, find=find, prefilter=_can_match)
