"""A use of clang's wavefront-size macro, which newer clang no longer defines. ROCm-only code is searched too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.guards import PreprocessorContext

if TYPE_CHECKING:
    from collections.abc import Iterator

_TARGET = re.compile(rb"__(?:gfx|GFX)\w+")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches once per line, unless the line or an enclosing branch tests the target, or the file defines the macro."""
    names = [name.encode() for name in context.code.terms]
    if not any(name in unit.data for name in names):
        return
    text, surroundings = blanked(unit.data), PreprocessorContext.of(unit.data)
    pattern = re.compile(rb"\b(" + b"|".join(map(re.escape, names)) + rb")\b")
    if re.search(rb"#\s*define\s+" + pattern.pattern, text):
        return
    reported_line = 0
    for match in pattern.finditer(text):
        line, column = unit.text.position(match.start())
        if (
            line == reported_line
            or not surroundings.can_compile_for_rocm(match.start())
            or _is_chosen_by_target(text, match.start(), surroundings)
        ):
            continue
        reported_line = line
        yield Match(line, column, {"macro": match.group(1).decode()})


def _is_chosen_by_target(text: bytes, offset: int, surroundings: PreprocessorContext) -> bool:
    line = text[text.rfind(b"\n", 0, offset) + 1 : text.find(b"\n", offset) % (len(text) + 1)]
    return _TARGET.search(line) is not None or surroundings.is_target_specific(offset)


detector = Detector(__name__, code="CU110", unit_types=CudaUnit, find=find)
