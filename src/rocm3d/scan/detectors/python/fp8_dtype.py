"""An 8-bit float type that is used whatever the target: AMD's targets have one family of them, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.python_names import ancestors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_TABLES = ("comparison_operator", "list", "tuple", "set", "pair", "subscript")


def find(unit: PythonUnit, look: Look) -> Iterator[Hit]:
    """The first use of each type; tables and comparisons only know of it, and choose nothing."""
    if b"float8" not in unit.data:
        return
    wanted = {term.rsplit(".", 1)[-1]: why for term, why in look.code.terms.items()}
    seen = set()
    for node in unit.nodes("attribute"):
        name = unit.slice(node).rsplit(".", 1)[-1]
        if name in wanted and name not in seen and not unit.is_guarded(node) and not _is_in_table(node):
            seen.add(name)
            yield hit(unit, node, dtype=unit.slice(node), why=wanted[name])


def _is_in_table(node: Node) -> bool:
    """Whether the name stands in a literal or a comparison of its own statement."""
    for above in ancestors(node):
        if above.type in _TABLES:
            return True
        if above.type.endswith("_statement") or above.type in ("block", "argument_list"):
            return False
    return False


detector = Detector(__name__, code="PY205", reads=PythonUnit, find=find)
