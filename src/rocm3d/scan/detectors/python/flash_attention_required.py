"""An assert that flash attention is there: the program stops where only another backend is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.syntax.cuda import walk
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: PythonUnit, look: Look) -> Iterator[Hit]:
    """Asserts on a flag that a try-import of flash attention sets."""
    flags = {name for block in unit.nodes("try_statement") for name in _flags(unit, block, look.code.terms)}
    for statement in unit.nodes("assert_statement"):
        asked = statement.named_children[0]
        names = {unit.slice(node) for node in walk(asked) if node.type == "identifier"}
        if names & flags and not unit.is_guarded(asked):
            yield hit(unit, statement, flag=", ".join(sorted(names & flags)))


def _flags(unit: PythonUnit, block: Node, modules: dict[str, str]) -> set[str]:
    """Names set to True or False in a try statement that imports one of the modules."""
    inner = list(walk(block))
    imports = [unit.slice(n).split() for n in inner if n.type in ("import_statement", "import_from_statement")]
    if not any(words[1].split(".")[0] in modules for words in imports if len(words) > 1):
        return set()
    pairs = [(n.child_by_field_name("left"), n.child_by_field_name("right")) for n in inner if n.type == "assignment"]
    return {unit.slice(left) for left, right in pairs if left and right and right.type in ("true", "false")}


detector = Detector(__name__, code="PY101", reads=PythonUnit, find=find)
