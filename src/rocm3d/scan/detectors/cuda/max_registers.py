"""__maxnreg__, CUDA's register limit for one kernel. The build rule nvcc_flag reports the compiler flag.

The detector searches the text without comments and strings, because the grammar parses the attribute as a variable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIMIT = re.compile(rb"\b__maxnreg__\s*\([^()]*\)")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches each use of the attribute with a value."""
    if b"__maxnreg__" not in unit.data:
        return
    for match in _LIMIT.finditer(blanked(unit.data)):
        if unit.is_shared(match.start()):
            line, column = unit.text.position(match.start())
            yield Match(line, column, {"text": b" ".join(match.group().split()).decode("utf-8", "replace")})


detector = Detector(__name__, code="CU310", unit_types=CudaUnit, find=find)
