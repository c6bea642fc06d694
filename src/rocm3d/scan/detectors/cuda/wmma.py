"""NVIDIA's matrix API nvcuda::wmma: HIP has no such namespace, and rocWMMA's fragments have another layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_qualified_name
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMESPACE = "nvcuda"


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the header, the namespace, and the first use of each name.

    Bare `wmma::` names do not count if the file uses `wmma` as an alias of another namespace.
    """
    for include in unit.nodes("preproc_include"):
        path = include.child_by_field_name("path")
        header = "" if path is None else unit.slice(path)
        if header.startswith("<") and header.strip("<>") in context.code.terms and unit.is_shared(include.start_byte):
            yield match_at(unit, include, name=header.strip("<>"))
    aliases = [unit.slice(alias) for alias in unit.nodes("namespace_alias_definition")]
    renamed = any("wmma" in alias and _NAMESPACE not in alias for alias in aliases)
    reported: set[str] = set()
    for node in unit.nodes("qualified_identifier", "using_declaration", "namespace_alias_definition"):
        outer = unit.parents.get(node.id)
        is_nested = outer is not None and outer.type in ("qualified_identifier", "using_declaration")
        if is_nested or not unit.is_shared(node.start_byte):
            continue
        text = "".join(unit.head(node).split("<", 1)[0].split())
        term = text.removeprefix(f"{_NAMESPACE}::")
        name = _NAMESPACE if node.type != "qualified_identifier" and _NAMESPACE in text else term
        known = name == _NAMESPACE or term in context.code.terms
        if known and name not in reported and (_NAMESPACE in text or not renamed):
            reported.add(name)
            yield match_at(unit, node, name=f"{_NAMESPACE}::{name}" if name != _NAMESPACE else name)


def _can_match(unit: CudaUnit, context: DetectorContext) -> bool:
    return _NAMESPACE.encode() in unit.data or contains_qualified_name(unit, context)


detector = Detector(__name__, code="CU403", unit_types=CudaUnit, find=find, prefilter=_can_match)
