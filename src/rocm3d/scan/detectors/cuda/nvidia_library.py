"""An include of an NVIDIA-only library. The code's terms list the headers and their replacements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches includes whose file name is among the code's terms, in any folder except `./` of the project."""
    for include in unit.nodes("preproc_include"):
        path = include.child_by_field_name("path")
        if path is None or not unit.is_shared(include.start_byte):
            continue
        header = unit.slice(path).strip('<>"')
        name = header.rsplit("/", 1)[-1]
        if name in context.code.terms and not unit.slice(path).startswith('"./'):
            yield match_at(unit, include, name=header, why=context.code.terms[name])


detector = Detector(__name__, code="CU209", unit_types=CudaUnit, find=find, prefilter=contains_term)
