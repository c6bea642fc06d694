"""__activemask stored in 32 bits: on HIP it has 64 bits and covers all lanes of the wave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import NarrowReceivers, function_name

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches masks in 32-bit variables or bit functions. A mask passed directly to a *_sync function is fine."""
    if b"__activemask" not in unit.data:
        return
    values = NarrowReceivers(unit, context.knowledge.codes["CU102"].terms)
    for call in unit.nodes("call_expression"):
        if function_name(unit, call) != "__activemask" or not unit.is_shared(call.start_byte):
            continue
        if values.receiver_32bit(call) is not None:
            yield match_at(unit, call, call="__activemask")


detector = Detector(__name__, code="CU106", unit_types=CudaUnit, find=find)
