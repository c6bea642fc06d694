"""A floating-point literal with the suffix d, such as 1e-6d: gcc and nvcc accept it, clang does not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_LITERAL = re.compile(r"(?:\d[\d']*\.?[\d']*|\.\d[\d']*)(?:[eE][-+]?\d+)?[dD]$")
_NUMBER_WITH_SUFFIX = re.compile(rb"[\d.'][dD]")
_OWN_SUFFIX = re.compile(rb'operator\s*""\s*d\b')


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches literals with a point or an exponent and the suffix, unless the file defines that suffix."""
    if _OWN_SUFFIX.search(unit.data):
        return
    for node in unit.nodes("user_defined_literal", "number_literal"):
        text = unit.slice(node).lstrip("+-")  # the grammar includes the sign in the literal
        if _LITERAL.match(text) and re.search(r"[.eE]", text) and unit.is_shared(node.start_byte):
            line, column = unit.text.position(node.end_byte - len(text))
            yield Match(line, column, {"literal": text})


def _can_match(unit: CudaUnit, context: DetectorContext) -> bool:
    return _NUMBER_WITH_SUFFIX.search(unit.data) is not None


detector = Detector(__name__, code="CU306", unit_types=CudaUnit, find=find, prefilter=_can_match)
