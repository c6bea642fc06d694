"""A program that masks GPUs itself: ROCm has three variables for it, and their values can contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, environment_writes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first assignment of each mask. One mask works on ROCm and is a note, several are a warning."""
    if not any(term.encode() in unit.data for term in context.code.terms):
        return
    first_writes: dict[str, Node] = {}
    for name, _, node in environment_writes(unit):
        if name in context.code.terms and not unit.is_guarded(node):
            first_writes.setdefault(name, node)
    for name, node in first_writes.items():
        match = match_at(unit, node, name=name, why=context.code.terms[name])
        yield Match(match.line, match.column, match.facts, severity=None if len(first_writes) > 1 else "note")


detector = Detector(__name__, code="PY206", unit_types=PythonUnit, find=find)
