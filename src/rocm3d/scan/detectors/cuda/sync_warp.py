"""A call of __syncwarp: not in every HIP. One finding for a file, as one guarded macro answers all its calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALL = re.compile(rb"\b__syncwarp\s*\(")
_DEFINED = re.compile(rb"#\s*define\s+__syncwarp\b")


def find(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """The first call that both builds see, in code or in the body of a macro; none where the file defines its own."""
    if b"__syncwarp" not in unit.data:
        return
    text = blanked(unit.data)
    if _DEFINED.search(text):
        return
    calls = [match.start() for match in _CALL.finditer(text) if unit.is_shared(match.start())]
    if calls:
        line, column = unit.text.place(calls[0])
        count = f"{len(calls)} times in this file" if len(calls) > 1 else "once in this file"
        yield Hit(line, column, {"call": "__syncwarp", "count": count})


detector = Detector(__name__, code="CU103", reads=CudaUnit, find=find)
