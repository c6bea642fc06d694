"""A call of __syncwarp, which some HIP releases lack. One finding per file, because one guarded macro fixes all calls.

A ROCm macro in any header of the repository fixes the calls of all files.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Clue, Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import rocm_shim_names
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME, _ANSWERED = "__syncwarp", "CU103 answered"
_CALL = re.compile(rb"\b__syncwarp\s*\(")
_DEFINITION = re.compile(rb"#\s*define\s+__syncwarp\b")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match | Clue]:
    """Matches the first call that both backends compile, also in a macro body, unless the file defines __syncwarp."""
    if b"__syncwarp" not in unit.data:
        return
    if any(name.split("(")[0] == _NAME for name in rocm_shim_names(unit)):
        yield Clue(_ANSWERED)
    text = blanked(unit.data)
    if _DEFINITION.search(text):
        return
    calls = [match.start() for match in _CALL.finditer(text) if unit.is_shared(match.start())]
    if calls:
        line, column = unit.text.position(calls[0])
        count = f"{len(calls)} times in this file" if len(calls) > 1 else "once in this file"
        yield Match(line, column, {"call": _NAME, "count": count}, unless=_ANSWERED)


detector = Detector(__name__, code="CU103", unit_types=CudaUnit, find=find)
