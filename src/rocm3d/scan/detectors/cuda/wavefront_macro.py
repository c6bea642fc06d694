"""A use of clang's wavefront-size macro, which newer clang no longer defines. ROCm-only code is searched too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Match, DetectorContext
from rocm3d.syntax.chains import PreprocessorContext
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator

_TARGET = re.compile(rb"__(?:gfx|GFX)\w+")


def find(unit: CudaUnit, look: DetectorContext) -> Iterator[Match]:
    """Matches once per line, unless the line or an enclosing branch tests the target, or the file defines the macro."""
    names = [name.encode() for name in look.code.terms]
    if not any(name in unit.data for name in names):
        return
    text, around = blanked(unit.data), PreprocessorContext.of(unit.data)
    word = re.compile(rb"\b(" + b"|".join(map(re.escape, names)) + rb")\b")
    if re.search(rb"#\s*define\s+" + word.pattern, text):
        return
    told = 0
    for match in word.finditer(text):
        line, column = unit.text.position(match.start())
        if line == told or not around.can_compile_for_rocm(match.start()) or _by_target(text, match.start(), around):
            continue
        told = line
        yield Match(line, column, {"macro": match.group(1).decode()})


def _by_target(text: bytes, at: int, around: PreprocessorContext) -> bool:
    line = text[text.rfind(b"\n", 0, at) + 1 : text.find(b"\n", at) % (len(text) + 1)]
    return _TARGET.search(line) is not None or around.is_target_specific(at)


detector = Detector(__name__, code="CU110", unit_types=CudaUnit, find=find)
