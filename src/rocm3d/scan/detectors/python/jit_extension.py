"""Device code that is compiled at run time. The code's terms list the functions that do this."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.scan.needs import a_dotted_name
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.python_names import ImportedNames

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOST = re.compile(r"\.(cpp|cc)\b")
_DEVICE = re.compile(r"\.cuh?\b|cuda_|_cuda\b")


def find(unit: PythonUnit, look: Look) -> Iterator[Hit]:
    """Matches calls of functions among the terms, except extensions that only have C++ files."""
    if not any(term.rsplit(".", 1)[-1].encode() in unit.data for term in look.code.terms):
        return
    for name, call in ImportedNames(unit).calls():
        if name not in look.code.terms or unit.is_guarded(call):
            continue
        text = unit.slice(call)
        if not _HOST.search(text) or _DEVICE.search(text):
            yield hit(unit, call, call=name)


detector = Detector(__name__, code="PY406", reads=PythonUnit, find=find, needs=a_dotted_name)
