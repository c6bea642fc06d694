"""A match or integer reduce builtin: on HIP it covers the whole wave, but the code expects 32 lanes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Clue, Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import rocm_shim_names
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match | Clue]:
    """Matches calls of builtins among the code's terms, in code and in macro bodies."""
    names = [name.encode() for name in context.code.terms]
    if not any(name in unit.data for name in names):
        return
    yield from (Clue(_clue_name(name)) for name in rocm_shim_names(unit) if name in context.code.terms)
    call = re.compile(rb"\b(" + b"|".join(map(re.escape, names)) + rb")\s*\(")
    for match in call.finditer(blanked(unit.data)):
        if unit.is_shared(match.start()):
            line, column = unit.text.position(match.start())
            name = match.group(1).decode()
            yield Match(line, column, {"call": name}, unless=_clue_name(name))


def _clue_name(name: str) -> str:
    return f"{detector.code} {name}"


detector = Detector(__name__, code="CU107", unit_types=CudaUnit, find=find)
