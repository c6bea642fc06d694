"""The unrolled tail of a reduction through a volatile pointer without a barrier: it relies on lanes in lockstep."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator

_VOLATILE = re.compile(rb"\bvolatile\b[^;(){}=]{0,160}?([A-Za-z_]\w*)\s*(?=[=,;)\[])")
_STEP = rb"\b%s\s*\[[^\[\]]*\+\s*(32|16|8|4|2|1)[uU]?\s*\]"
_BARRIER = re.compile(rb"\b__sync(?:warp|threads)\b|\.\s*sync\s*\(")
_MIN_STEPS = 3  # fewer steps are not a tree reduction


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches three or more steps `name[t + 16]`, `[t + 8]`, ... on one volatile name without a barrier between."""
    if b"volatile" not in unit.data:
        return
    text = blanked(unit.data)
    for function in unit.nodes("function_definition"):
        start, end = function.start_byte, function.end_byte
        for name in dict.fromkeys(match.group(1) for match in _VOLATILE.finditer(text, start, end)):
            steps = list(re.compile(_STEP % re.escape(name)).finditer(text, start, end))
            if len({step.group(1) for step in steps}) < _MIN_STEPS or not unit.is_shared(steps[0].start()):
                continue
            if not _BARRIER.search(text, steps[0].end(), steps[-1].start()):
                line, column = unit.text.position(steps[0].start())
                yield Match(line, column, {"name": name.decode()})


detector = Detector(__name__, code="CU109", unit_types=CudaUnit, find=find)
