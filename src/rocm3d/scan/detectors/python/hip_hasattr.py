"""A hasattr test for torch.version.hip instead of a test of its value: every torch build has the attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import ImportedNames, PythonUnit, positional_arguments, string_value

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches `hasattr(torch.version, "hip")` without a test of the value next to or around it."""
    if b"hasattr" not in unit.data:
        return
    names = ImportedNames(unit)
    for called, call in names.calls():
        call_arguments = positional_arguments(call)
        if called != "hasattr" or len(call_arguments) != 2 or unit.is_guarded(call):
            continue
        if names.full_name(call_arguments[0]).endswith(".version") and string_value(unit, call_arguments[1]) == "hip":
            yield match_at(unit, call, test=unit.slice(call))


def _can_match(unit: PythonUnit, context: DetectorContext) -> bool:
    return all(token in unit.data for token in (b"hasattr", b"version", b"hip"))


detector = Detector(__name__, code="PY202", unit_types=PythonUnit, find=find, prefilter=_can_match)
