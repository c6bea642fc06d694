"""A demand for flash attention: the program stops where only another backend is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.syntax.python import PythonUnit, string_value
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: PythonUnit, look: Look) -> Iterator[Hit]:
    """Asserts and raises on what a try-import of flash attention sets, and transformers told to use it."""
    if not any(term.encode() in unit.data for term in look.code.terms):
        return
    flags: set[str] = set()
    for block in unit.nodes("try_statement"):
        modules = _modules(unit, block, look.code.terms)
        if modules:
            flags |= _flags(unit, block)
            handlers = [item for item in block.named_children if item.type == "except_clause"]
            for stop in (stop for handler in handlers for stop in _raises(handler)):
                if not unit.is_guarded(stop):
                    yield hit(unit, stop, flag=modules[0])
    for statement in unit.nodes("assert_statement"):
        asked = statement.named_children[0]
        names = {unit.slice(node) for node in walk(asked) if node.type == "identifier"}
        if names & flags and not unit.is_guarded(asked):
            yield hit(unit, statement, flag=", ".join(sorted(names & flags)))
    yield from _refusals(unit, flags)
    yield from _settings(unit, look.code.terms)


def _refusals(unit: PythonUnit, flags: set[str]) -> Iterator[Hit]:
    """`if not FLAG: raise`, and a raise in the else of `if FLAG:`."""
    for branch in unit.nodes("if_statement"):
        condition = branch.child_by_field_name("condition")
        if condition is None or unit.is_guarded(condition):
            continue
        names = {unit.slice(node) for node in walk(condition) if node.type == "identifier"} & flags
        text = unit.slice(condition)
        denied = text.startswith("not ") or text.endswith("is None")
        ways = branch.children_by_field_name("consequence" if denied else "alternative")
        for stop in (stop for way in ways if names and way.type != "elif_clause" for stop in _raises(way)):
            yield hit(unit, stop, flag=", ".join(sorted(names)))


def _settings(unit: PythonUnit, terms: dict[str, str]) -> Iterator[Hit]:
    """`attn_implementation="..."` as an argument, a default, an assignment or an entry."""
    for node in unit.nodes("keyword_argument", "default_parameter", "typed_default_parameter", "assignment", "pair"):
        name = next((n for n in map(node.child_by_field_name, ("name", "left", "key")) if n), None)
        given = next((n for n in map(node.child_by_field_name, ("value", "right")) if n), None)
        if name is None or given is None or not unit.slice(name).strip("\"'").endswith("attn_implementation"):
            continue
        if string_value(unit, given) in terms and not unit.is_guarded(node):
            yield hit(unit, node, flag=f"attn_implementation={unit.slice(given)}")


def _modules(unit: PythonUnit, block: Node, terms: dict[str, str]) -> list[str]:
    """The modules of flash attention that a try statement imports."""
    inner = (node for node in walk(block) if node.type in ("import_statement", "import_from_statement"))
    tops = [words[1].split(".")[0] for words in (unit.slice(node).split() for node in inner) if len(words) > 1]
    return [top for top in tops if top in terms]


def _flags(unit: PythonUnit, block: Node) -> set[str]:
    """Names set to True, False or None in a try statement."""
    inner = (node for node in walk(block) if node.type == "assignment")
    pairs = [(node.child_by_field_name("left"), node.child_by_field_name("right")) for node in inner]
    return {unit.slice(left) for left, right in pairs if left and right and right.type in ("true", "false", "none")}


def _raises(clause: Node) -> list[Node]:
    """The raise statements that stand in a clause itself."""
    blocks = [clause, *(item for item in clause.named_children if item.type == "block")]
    return [item for block in blocks for item in block.named_children if item.type == "raise_statement"]


detector = Detector(__name__, code="PY101", reads=PythonUnit, find=find)
