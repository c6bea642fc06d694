"""A compiler flag that only nvcc takes, in a script that builds torch extensions; which ones is data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.syntax.python import PythonUnit, string_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: PythonUnit, look: Look) -> Iterator[Hit]:
    """String literals that start with one of the code's terms and are not already chosen by backend."""
    if not unit.builds_extensions:
        return
    flags = tuple(look.code.terms)
    for node in unit.nodes("string"):
        text = None if _is_docstring(node) else string_value(unit, node)
        if text is None or not text.startswith(flags) or unit.is_guarded(node):
            continue
        flag = max((flag for flag in flags if text.startswith(flag)), key=len)
        yield hit(unit, node, flag=text, why=look.code.terms[flag])


def _is_docstring(node: Node) -> bool:
    """A string that is a statement of its own reaches no compiler."""
    return node.parent is not None and node.parent.type == "expression_statement"


detector = Detector(__name__, code="BLD101", reads=PythonUnit, find=find)
