"""A second number in __launch_bounds__: blocks in CUDA, waves in HIP. A 1 asks for nothing and is left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """Bounds with a second argument other than 1."""
    for bounds in unit.nodes("launch_bounds"):
        given = [item for item in bounds.named_children if item.type != "comment"]
        if len(given) > 1 and unit.slice(given[1]) != "1" and unit.is_shared(bounds.start_byte):
            yield hit(unit, bounds, text=" ".join(unit.slice(bounds).split()))


detector = Detector(__name__, code="CU309", reads=CudaUnit, find=find, needs=(b"__launch_bounds__",))
