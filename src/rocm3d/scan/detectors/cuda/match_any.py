"""A match or integer reduce builtin: on HIP it works on the whole wave, where the code expects 32 lanes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """Calls of the builtins that the code's terms name, in code or in the body of a macro."""
    names = [name.encode() for name in look.code.terms]
    if not any(name in unit.data for name in names):
        return
    call = re.compile(rb"\b(" + b"|".join(map(re.escape, names)) + rb")\s*\(")
    for match in call.finditer(blanked(unit.data)):
        if unit.is_shared(match.start()):
            line, column = unit.text.place(match.start())
            yield Hit(line, column, {"call": match.group(1).decode()})


detector = Detector(__name__, code="CU107", reads=CudaUnit, find=find)
