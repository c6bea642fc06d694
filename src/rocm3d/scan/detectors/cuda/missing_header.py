"""An include of a CUDA toolkit header that HIP lacks. The code's terms list the headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches includes of headers among the code's terms."""
    for include in unit.nodes("preproc_include"):
        path = include.child_by_field_name("path")
        if path is None or not unit.is_shared(include.start_byte):
            continue
        header = unit.slice(path).strip('<>"')
        if header in context.code.terms:
            yield match_at(unit, include, header=header, why=context.code.terms[header])


detector = Detector(__name__, code="CU201", unit_types=CudaUnit, find=find, prefilter=contains_term)
