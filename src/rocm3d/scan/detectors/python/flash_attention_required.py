"""Code that requires flash attention: the program fails if only another attention backend is installed."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Match, DetectorContext, match_at
from rocm3d.syntax.python import PythonUnit, string_value
from rocm3d.syntax.python_names import imports
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_TORCH = re.compile(rb"\bscaled_dot_product_attention\b")


def find(unit: PythonUnit, look: DetectorContext) -> Iterator[Match]:
    """Matches asserts and raises on flags of a try-import, choices without torch attention, and attn_implementation."""
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
                    yield match_at(unit, stop, flag=modules[0])
    for statement in unit.nodes("assert_statement"):
        asked = statement.named_children[0]
        names = {unit.slice(node) for node in walk(asked) if node.type == "identifier"}
        if names & flags and not unit.is_guarded(asked):
            yield match_at(unit, statement, flag=", ".join(sorted(names & flags)))
    yield from _refusals(unit, flags)
    yield from _choices(unit, look)
    yield from _settings(unit, look.code.terms)


def _refusals(unit: PythonUnit, flags: set[str]) -> Iterator[Match]:
    """Matches `if not FLAG: raise`, and a raise in the else of `if FLAG:`."""
    for branch in unit.nodes("if_statement"):
        condition = branch.child_by_field_name("condition")
        if condition is None or unit.is_guarded(condition):
            continue
        names = {unit.slice(node) for node in walk(condition) if node.type == "identifier"} & flags
        text = unit.slice(condition)
        denied = text.startswith("not ") or text.endswith("is None")
        ways = branch.children_by_field_name("consequence" if denied else "alternative")
        for stop in (stop for way in ways if names and way.type != "elif_clause" for stop in _raises(way)):
            yield match_at(unit, stop, flag=", ".join(sorted(names)))


def _choices(unit: PythonUnit, look: DetectorContext) -> Iterator[Match]:
    """Matches `if A: import flash_attn, elif B: import other, else: raise` in a file without torch's own attention."""
    if _TORCH.search(unit.data):
        return
    for chain in unit.nodes("if_statement"):
        clauses = [chain, *(item for item in chain.named_children if item.type == "elif_clause")]
        ways = [way for way in (clause.child_by_field_name("consequence") for clause in clauses) if way is not None]
        other = next((item for item in chain.named_children if item.type == "else_clause"), None)
        needs = [_imported(unit, way, look) for way in ways]
        if len(ways) < 2 or not all(needs) or other is None or not _raises(other) or unit.is_guarded(ways[0]):
            continue
        names = [top for found in needs for top, _ in found]
        first = next((node for found in needs for top, node in found if top in look.code.terms), None)
        if first is not None:
            yield match_at(unit, first, flag=" or ".join(dict.fromkeys(names)))


def _imported(unit: PythonUnit, block: Node, look: DetectorContext) -> list[tuple[str, Node]]:
    """Imports of a block that need another package: neither the standard library nor the stack provides them."""
    there = {*sys.stdlib_module_names, *look.knowledge.codes["DEP202"].terms}
    inside = (found for found in imports(unit) if block.start_byte <= found.node.start_byte < block.end_byte)
    named = ((found.module.split(".")[0], found.node) for found in inside)
    return [(top, node) for top, node in named if top not in there]


def _settings(unit: PythonUnit, terms: dict[str, str]) -> Iterator[Match]:
    """Matches `attn_implementation="..."` as an argument, a default, an assignment or a dictionary entry."""
    for node in unit.nodes("keyword_argument", "default_parameter", "typed_default_parameter", "assignment", "pair"):
        name = next((n for n in map(node.child_by_field_name, ("name", "left", "key")) if n), None)
        given = next((n for n in map(node.child_by_field_name, ("value", "right")) if n), None)
        if name is None or given is None or not unit.slice(name).strip("\"'").endswith("attn_implementation"):
            continue
        if string_value(unit, given) in terms and not unit.is_guarded(node):
            yield match_at(unit, node, flag=f"attn_implementation={unit.slice(given)}")


def _modules(unit: PythonUnit, block: Node, terms: dict[str, str]) -> list[str]:
    """The modules of flash attention that a try statement imports."""
    inner = (node for node in walk(block) if node.type in ("import_statement", "import_from_statement"))
    tops = [words[1].split(".")[0] for words in (unit.slice(node).split() for node in inner) if len(words) > 1]
    return [top for top in tops if top in terms]


def _flags(unit: PythonUnit, block: Node) -> set[str]:
    """Names set to True, False or None in a try statement, except names with a ROCm-specific value."""
    inner = [node for node in walk(block) if node.type == "assignment"]
    sides = [(node.child_by_field_name("left"), node.child_by_field_name("right"), node) for node in inner]
    told_apart = {unit.slice(left) for left, _, node in sides if left and unit.is_guarded(node)}
    found = {unit.slice(left) for left, right, _ in sides if left and right and right.type in ("true", "false", "none")}
    return found - told_apart


def _raises(clause: Node) -> list[Node]:
    """The raise statements directly in a clause, without those of nested statements."""
    blocks = [clause, *(item for item in clause.named_children if item.type == "block")]
    return [item for block in blocks for item in block.named_children if item.type == "raise_statement"]


detector = Detector(__name__, code="PY101", unit_types=PythonUnit, find=find)
