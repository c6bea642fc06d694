"""An include of cooperative_groups/reduce.h: older HIP releases lack it, and many files include it without using it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the include. The fix depends on whether the file calls anything from the header."""
    names = {term.rsplit("::", 1)[-1] for term in context.code.terms}
    functions = (call.child_by_field_name("function") for call in unit.nodes("call_expression"))
    is_called = any(_unqualified(unit.head(function)) in names for function in functions if function is not None)
    for include in unit.nodes("preproc_include"):
        path = include.child_by_field_name("path")
        if path is None or not unit.is_shared(include.start_byte):
            continue
        if unit.slice(path).strip('<>"') == "cooperative_groups/reduce.h":
            yield match_at(
                unit, include, use="this file calls its reduce" if is_called else "this file uses nothing from it"
            )


def _unqualified(function: str) -> str:
    """The function name without namespaces and template arguments."""
    return function.split("<", 1)[0].strip().rsplit("::", 1)[-1]


detector = Detector(__name__, code="CU202", unit_types=CudaUnit, find=find, prefilter=(b"cooperative_groups/reduce.h",))
