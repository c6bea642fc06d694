"""Headers and names of torch's THC library, which every torch with a current ROCm build has removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches includes and identifiers among the code's terms. A term that ends in `_` is a prefix."""
    headers = {term: why for term, why in context.code.terms.items() if "/" in term}
    names = {term: why for term, why in context.code.terms.items() if "/" not in term}
    own = set(_macro_names(unit))
    families = tuple(name for name in names if name.endswith("_"))
    for node in unit.nodes("preproc_include", "identifier", "type_identifier"):
        if not unit.is_shared(node.start_byte):
            continue
        if node.type == "preproc_include":
            path = node.child_by_field_name("path")
            header = "" if path is None else unit.slice(path).strip('<>"')
            if header.startswith("THC/"):
                yield match_at(unit, node, name=header, why=headers.get(header, "the THC folder was removed"))
            continue
        name = unit.slice(node)
        why = names.get(name) or next((names[family] for family in families if name.startswith(family)), None)
        if why is not None and name not in own:
            yield match_at(unit, node, name=name, why=why)


def _macro_names(unit: CudaUnit) -> Iterator[str]:
    """Names of the file's macros. A macro with the name of a removed function is a shim for it."""
    for macro in unit.nodes("preproc_def", "preproc_function_def"):
        name = macro.child_by_field_name("name")
        if name is not None:
            yield unit.slice(name)


def _can_match(unit: CudaUnit, context: DetectorContext) -> bool:
    return b"THC/" in unit.data or contains_term(unit, context)


detector = Detector(__name__, code="CU208", unit_types=CudaUnit, find=find, prefilter=_can_match)
