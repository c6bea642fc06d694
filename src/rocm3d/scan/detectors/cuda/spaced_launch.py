"""A kernel launch with spaces between its chevrons: clang and hipify do not accept it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_split_launch
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches launches that do not start with `<<<` and end with `>>>`."""
    for launch in unit.nodes("kernel_call_syntax"):
        text = unit.slice(launch)
        if unit.is_shared(launch.start_byte) and not (text.startswith("<<<") and text.endswith(">>>")):
            yield match_at(unit, launch)


detector = Detector(__name__, code="CU301", unit_types=CudaUnit, find=find, prefilter=contains_split_launch)
