"""A cooperative_groups function that HIP lacks: labeled partitions, scans, asynchronous copies.

Matches `cg::NAME`, `cooperative_groups::NAME` and namespace aliases of the file. The code's terms list the names. A
bare name counts only for labeled_partition, because no other library uses that name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


_ALIAS = re.compile(r"namespace\s+(\w+)\s*=\s*(?:::)?cooperative_groups\s*;")
_FULL = "cooperative_groups"


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches calls whose namespace is cooperative_groups or an alias of it."""
    aliases = {_FULL, "cg"} | {
        match.group(1)
        for node in unit.nodes("namespace_alias_definition")
        if (match := _ALIAS.search(unit.slice(node))) is not None
    }
    bare = {term for term in context.code.terms if "::" not in term}
    names = bare | {term.rsplit("::", 1)[-1] for term in context.code.terms}
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        if function is None or not unit.is_shared(call.start_byte):
            continue
        spelled = unit.head(function).split("<", 1)[0].strip()
        scope, _, name = spelled.removeprefix("::").rpartition("::")
        if name in names and (scope in aliases or (not scope and name in bare)):
            yield match_at(unit, call, call=spelled)


def _can_match(unit: CudaUnit, context: DetectorContext) -> bool:
    """Whether a name occurs, under any namespace alias."""
    return any(term.rsplit(b"::", 1)[-1] in unit.data for term in context.encoded_terms)


detector = Detector(__name__, code="CU203", unit_types=CudaUnit, find=find, prefilter=_can_match)
