"""An 8-bit float type used on every target: an AMD target supports one family of FP8 types, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, ancestors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_TABLES = ("comparison_operator", "list", "tuple", "set", "pair", "subscript")


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first use of each type. Tables and comparisons only mention a type, so they do not count."""
    if b"float8" not in unit.data:
        return
    dtypes = {term.rsplit(".", 1)[-1]: why for term, why in context.code.terms.items()}
    reported = set()
    for node in unit.nodes("attribute"):
        name = unit.slice(node).rsplit(".", 1)[-1]
        if name in dtypes and name not in reported and not unit.is_guarded(node) and not _is_in_table(node):
            reported.add(name)
            yield match_at(unit, node, dtype=unit.slice(node), why=dtypes[name])


def _is_in_table(node: Node) -> bool:
    """Whether the name is part of a collection literal, a subscript or a comparison in its statement."""
    for above in ancestors(node):
        if above.type in _TABLES:
            return True
        if above.type.endswith("_statement") or above.type in ("block", "argument_list"):
            return False
    return False


detector = Detector(__name__, code="PY205", unit_types=PythonUnit, find=find)
