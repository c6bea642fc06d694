"""NVIDIA's matrix API nvcuda::wmma: HIP has no such namespace, and rocWMMA's fragments have another layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Match, DetectorContext, match_at
from rocm3d.scan.needs import contains_qualified_name
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWNER = "nvcuda"


def find(unit: CudaUnit, look: DetectorContext) -> Iterator[Match]:
    """Matches the header, the namespace, and the first use of each name.

    Bare `wmma::` names do not count if the file uses `wmma` as an alias of another namespace.
    """
    for include in unit.nodes("preproc_include"):
        path = include.child_by_field_name("path")
        header = "" if path is None else unit.slice(path)
        if header.startswith("<") and header.strip("<>") in look.code.terms and unit.is_shared(include.start_byte):
            yield match_at(unit, include, name=header.strip("<>"))
    aliases = [unit.slice(alias) for alias in unit.nodes("namespace_alias_definition")]
    renamed = any("wmma" in alias and _OWNER not in alias for alias in aliases)
    seen: set[str] = set()
    for node in unit.nodes("qualified_identifier", "using_declaration", "namespace_alias_definition"):
        outer = unit.parents.get(node.id)
        within = outer is not None and outer.type in ("qualified_identifier", "using_declaration")
        if within or not unit.is_shared(node.start_byte):
            continue
        text = "".join(unit.head(node).split("<", 1)[0].split())
        term = text.removeprefix(f"{_OWNER}::")
        name = _OWNER if node.type != "qualified_identifier" and _OWNER in text else term
        known = name == _OWNER or term in look.code.terms
        if known and name not in seen and (_OWNER in text or not renamed):
            seen.add(name)
            yield match_at(unit, node, name=f"{_OWNER}::{name}" if name != _OWNER else name)


def _mentioned(unit: CudaUnit, look: DetectorContext) -> bool:
    return _OWNER.encode() in unit.data or contains_qualified_name(unit, look)


detector = Detector(__name__, code="CU403", unit_types=CudaUnit, find=find, prefilter=_mentioned)
