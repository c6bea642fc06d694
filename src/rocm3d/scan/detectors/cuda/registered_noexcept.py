"""A noexcept function registered as a torch operator: torch 2 rejects it, and ROCm has no older torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import registered_noexcept_functions

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    for node in registered_noexcept_functions(unit):
        yield match_at(unit, node, function=unit.slice(node))


detector = Detector(__name__, code="CU510", unit_types=CudaUnit, find=find, prefilter=contains_term)
