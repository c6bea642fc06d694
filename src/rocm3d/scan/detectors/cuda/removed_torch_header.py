"""Headers and names of the THC part of torch, gone from every torch that has a current ROCm build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.scan.needs import a_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """Includes and identifiers named by the code's terms; a term that ends in `_` stands for all that start so."""
    headers = {term: why for term, why in look.code.terms.items() if "/" in term}
    names = {term: why for term, why in look.code.terms.items() if "/" not in term}
    own = set(_macros(unit))
    families = tuple(name for name in names if name.endswith("_"))
    for node in unit.nodes("preproc_include", "identifier", "type_identifier"):
        if not unit.is_shared(node.start_byte):
            continue
        if node.type == "preproc_include":
            path = node.child_by_field_name("path")
            header = "" if path is None else unit.slice(path).strip('<>"')
            if header.startswith("THC/"):
                yield hit(unit, node, name=header, why=headers.get(header, "the folder THC is gone"))
            continue
        name = unit.slice(node)
        why = names.get(name) or next((names[family] for family in families if name.startswith(family)), None)
        if why is not None and name not in own:
            yield hit(unit, node, name=name, why=why)


def _macros(unit: CudaUnit) -> Iterator[str]:
    """Names of the file's own macros: one that is spelled like a removed name is a shim that already answers."""
    for macro in unit.nodes("preproc_def", "preproc_function_def"):
        name = macro.child_by_field_name("name")
        if name is not None:
            yield unit.slice(name)


def _mentioned(unit: CudaUnit, look: Look) -> bool:
    """The folder, or a term."""
    return b"THC/" in unit.data or a_term(unit, look)


detector = Detector(__name__, code="CU208", reads=CudaUnit, find=find, needs=_mentioned)
