"""NVIDIA-only features in a Triton kernel: inline PTX, the CUDA libdevice, Hopper's descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import ImportedNames, PythonUnit, imports, imports_triton

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches calls of functions and imports of modules among the terms, each statement once."""
    if not imports_triton(unit):
        return
    terms = context.code.terms
    functions = {term.rsplit(".", 1)[-1]: term for term in terms if "extra" not in term}
    modules = sorted((term for term in terms if "extra" in term), key=len, reverse=True)
    reported = set()
    for imported in imports(unit):
        module = next((term for term in modules if f"{imported.name}.".startswith(f"{term}.")), None)
        if module and imported.node.start_byte not in reported and not unit.is_guarded(imported.node):
            reported.add(imported.node.start_byte)
            yield match_at(unit, imported.node, call=module, why=terms[module])
    names = ImportedNames(unit)
    for call in unit.nodes("call"):
        function = call.child_by_field_name("function")
        written = "" if function is None else unit.slice(function)
        term = functions.get(written.rsplit(".", 1)[-1])
        if term is None and written.count(".") > 1:
            term = next(
                (m for m in modules if written.startswith(f"{m}.") or names.full_name(function).startswith(f"{m}.")),
                None,
            )
        if term and not unit.is_guarded(call):
            yield match_at(unit, call, call=written, why=terms[term])


detector = Detector(__name__, code="PY503", unit_types=PythonUnit, find=find)
