"""A call of __trap or __brkpt: clang declares neither for HIP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches calls among the code's terms, unless the file defines a macro of that name."""
    macros = {
        unit.slice(own)
        for macro in unit.nodes("preproc_def", "preproc_function_def")
        if (own := macro.child_by_field_name("name")) is not None
    }
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        if function is None or not unit.is_shared(call.start_byte):
            continue
        name = unit.head(function).removeprefix("::")
        if name in context.code.terms and name not in macros:
            yield match_at(unit, call, call=name)


detector = Detector(__name__, code="CU302", unit_types=CudaUnit, find=find, prefilter=contains_term)
