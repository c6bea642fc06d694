"""A ballot stored in 32 bits: HIP returns 64 bits, and the upper half of a 64-lane wave is lost without an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import NarrowReceivers, function_name

if TYPE_CHECKING:
    from collections.abc import Iterator

_BALLOTS = frozenset({"__ballot_sync", "__ballot"})


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches ballots that end in a 32-bit variable, return value, cast or bit function (the code's terms)."""
    if b"__ballot" not in unit.data:
        return
    values = NarrowReceivers(unit, context.code.terms)
    for call in unit.nodes("call_expression"):
        name = function_name(unit, call)
        if name not in _BALLOTS or not unit.is_shared(call.start_byte):
            continue
        use = values.receiver_32bit(call)
        if use is not None:
            yield match_at(unit, call, call=name, use=use)


detector = Detector(__name__, code="CU102", unit_types=CudaUnit, find=find)
