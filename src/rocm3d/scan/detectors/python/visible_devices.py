"""A program that masks GPUs itself: ROCm has three variables for it, and their values can contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Match, DetectorContext, match_at
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.python_names import environment_writes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: PythonUnit, look: DetectorContext) -> Iterator[Match]:
    """Matches the first assignment of each mask. One mask works on ROCm and is a note, several are a warning."""
    if not any(term.encode() in unit.data for term in look.code.terms):
        return
    first: dict[str, Node] = {}
    for name, _, node in environment_writes(unit):
        if name in look.code.terms and not unit.is_guarded(node):
            first.setdefault(name, node)
    for name, node in first.items():
        place = match_at(unit, node, name=name, why=look.code.terms[name])
        yield Match(place.line, place.column, place.facts, severity=None if len(first) > 1 else "note")


detector = Detector(__name__, code="PY206", unit_types=PythonUnit, find=find)
