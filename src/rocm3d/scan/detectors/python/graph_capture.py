"""A manual graph capture: HIP does not always raise an error for an operation that cannot be captured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_dotted_name
from rocm3d.syntax.python import ImportedNames, PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches capture calls. The graph object counts only if the file has no capture call."""
    if b"raph" not in unit.data and b"capture_begin" not in unit.data:
        return
    methods = {term for term in context.code.terms if "." not in term}
    matches = [
        (name, call)
        for name, call in ImportedNames(unit).calls()
        if (name in context.code.terms or name.rsplit(".", 1)[-1] in methods) and not unit.is_guarded(call)
    ]
    captures = [(name, call) for name, call in matches if not name.endswith("CUDAGraph")]
    for name, call in captures or matches:
        yield match_at(unit, call, call=name)


detector = Detector(__name__, code="PY303", unit_types=PythonUnit, find=find, prefilter=contains_dotted_name)
