"""A second argument of __launch_bounds__: it counts blocks in CUDA, but waves in HIP. The value 1 has no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches bounds with a second argument other than 1."""
    for bounds in unit.nodes("launch_bounds"):
        bound_values = [node for node in bounds.named_children if node.type != "comment"]
        if len(bound_values) > 1 and unit.slice(bound_values[1]) != "1" and unit.is_shared(bounds.start_byte):
            yield match_at(unit, bounds, text=" ".join(unit.slice(bounds).split()))


detector = Detector(__name__, code="CU309", unit_types=CudaUnit, find=find, prefilter=(b"__launch_bounds__",))
