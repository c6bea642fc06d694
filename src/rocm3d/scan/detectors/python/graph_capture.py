"""A manual graph capture: HIP does not always raise an error for an operation that cannot be captured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Match, DetectorContext, match_at
from rocm3d.scan.needs import contains_dotted_name
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.python_names import ImportedNames

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, look: DetectorContext) -> Iterator[Match]:
    """Matches capture calls. The graph object counts only if the file has no capture call."""
    if b"raph" not in unit.data and b"capture_begin" not in unit.data:
        return
    methods = {term for term in look.code.terms if "." not in term}
    found = [
        (name, call)
        for name, call in ImportedNames(unit).calls()
        if (name in look.code.terms or name.rsplit(".", 1)[-1] in methods) and not unit.is_guarded(call)
    ]
    captures = [(name, call) for name, call in found if not name.endswith("CUDAGraph")]
    for name, call in captures or found:
        yield match_at(unit, call, call=name)


detector = Detector(__name__, code="PY303", unit_types=PythonUnit, find=find, prefilter=contains_dotted_name)
