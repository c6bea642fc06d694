"""__maxnreg__, CUDA's limit of registers for one kernel. The compiler flag of that kind is a rule over build files.

Found in the text without comments and strings: the grammar reads the attribute as a variable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIMIT = re.compile(rb"\b__maxnreg__\s*\([^()]*\)")


def find(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """Each place where the attribute is given a number."""
    if b"__maxnreg__" not in unit.data:
        return
    for match in _LIMIT.finditer(blanked(unit.data)):
        if unit.is_shared(match.start()):
            line, column = unit.text.place(match.start())
            yield Hit(line, column, {"text": b" ".join(match.group().split()).decode("utf-8", "replace")})


detector = Detector(__name__, code="CU310", reads=CudaUnit, find=find)
