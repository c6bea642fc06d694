"""Run-time compilation or loading of PTX: HIP has the calls, but a loaded binary works on one target only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first call of each function, or the include in a file without such calls."""
    reported: set[str] = set()
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        name = "" if function is None else unit.head(function).lstrip(":")
        term = name.split("::", 1)[0]  # the namespace (jitify::...) or the name of a C function
        if term in context.code.terms and term not in reported and unit.is_shared(call.start_byte):
            reported.add(term)
            yield match_at(unit, call, name=name.split("<", 1)[0])
    for include in () if reported else unit.nodes("preproc_include"):
        path = include.child_by_field_name("path")
        header = "" if path is None else unit.slice(path).strip('<>"')
        stem = header.rsplit("/", 1)[-1]
        known = stem in context.code.terms or stem.split(".", 1)[0] in context.code.terms
        if known and unit.is_shared(include.start_byte):
            yield match_at(unit, include, name=header)


detector = Detector(__name__, code="CU406", unit_types=CudaUnit, find=find, prefilter=contains_term)
