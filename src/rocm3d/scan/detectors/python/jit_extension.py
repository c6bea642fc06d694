"""Device code that is compiled at run time. The code's terms list the functions that do this."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_dotted_name
from rocm3d.syntax.python import ImportedNames, PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOST_SOURCE = re.compile(r"\.(cpp|cc)\b")
_DEVICE_SOURCE = re.compile(r"\.cuh?\b|cuda_|_cuda\b")


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches calls of functions among the terms, except extensions that only have C++ files."""
    if not any(term.rsplit(".", 1)[-1].encode() in unit.data for term in context.code.terms):
        return
    for name, call in ImportedNames(unit).calls():
        if name not in context.code.terms or unit.is_guarded(call):
            continue
        text = unit.slice(call)
        if not _HOST_SOURCE.search(text) or _DEVICE_SOURCE.search(text):
            yield match_at(unit, call, call=name)


detector = Detector(__name__, code="PY406", unit_types=PythonUnit, find=find, prefilter=contains_dotted_name)
