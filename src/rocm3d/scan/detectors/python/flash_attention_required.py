"""Code that requires flash attention: the program fails if only another attention backend is installed."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, imports, string_value
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_TORCH_ATTENTION = re.compile(rb"\bscaled_dot_product_attention\b")


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches asserts and raises on flags of a try-import, choices without torch attention, and attn_implementation."""
    if not any(term.encode() in unit.data for term in context.code.terms):
        return
    flags: set[str] = set()
    for block in unit.nodes("try_statement"):
        modules = _flash_modules(unit, block, context.code.terms)
        if modules:
            flags |= _flags(unit, block)
            handlers = [clause for clause in block.named_children if clause.type == "except_clause"]
            for stop in (stop for handler in handlers for stop in _raise_statements(handler)):
                if not unit.is_guarded(stop):
                    yield match_at(unit, stop, flag=modules[0])
    for statement in unit.nodes("assert_statement"):
        condition = statement.named_children[0]
        names = {unit.slice(node) for node in walk(condition) if node.type == "identifier"}
        if names & flags and not unit.is_guarded(condition):
            yield match_at(unit, statement, flag=", ".join(sorted(names & flags)))
    yield from _refusals(unit, flags)
    yield from _choices(unit, context)
    yield from _settings(unit, context.code.terms)


def _refusals(unit: PythonUnit, flags: set[str]) -> Iterator[Match]:
    """Matches `if not FLAG: raise`, and a raise in the else of `if FLAG:`."""
    for branch in unit.nodes("if_statement"):
        condition = branch.child_by_field_name("condition")
        if condition is None or unit.is_guarded(condition):
            continue
        names = {unit.slice(node) for node in walk(condition) if node.type == "identifier"} & flags
        text = unit.slice(condition)
        is_negated = text.startswith("not ") or text.endswith("is None")
        branches = branch.children_by_field_name("consequence" if is_negated else "alternative")
        for stop in (
            stop for block in branches if names and block.type != "elif_clause" for stop in _raise_statements(block)
        ):
            yield match_at(unit, stop, flag=", ".join(sorted(names)))


def _choices(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches `if A: import flash_attn, elif B: import other, else: raise` in a file without torch's own attention."""
    if _TORCH_ATTENTION.search(unit.data):
        return
    for chain in unit.nodes("if_statement"):
        clauses = [chain, *(child for child in chain.named_children if child.type == "elif_clause")]
        blocks = [
            block for block in (clause.child_by_field_name("consequence") for clause in clauses) if block is not None
        ]
        else_clause = next((child for child in chain.named_children if child.type == "else_clause"), None)
        required = [_required_imports(unit, block, context) for block in blocks]
        if (
            len(blocks) < 2
            or not all(required)
            or else_clause is None
            or not _raise_statements(else_clause)
            or unit.is_guarded(blocks[0])
        ):
            continue
        names = [top for group in required for top, _ in group]
        first = next((node for group in required for top, node in group if top in context.code.terms), None)
        if first is not None:
            yield match_at(unit, first, flag=" or ".join(dict.fromkeys(names)))


def _required_imports(unit: PythonUnit, block: Node, context: DetectorContext) -> list[tuple[str, Node]]:
    """Imports of a block that need another package: neither the standard library nor the stack provides them."""
    provided = {*sys.stdlib_module_names, *context.knowledge.codes["DEP202"].terms}
    inside = (imported for imported in imports(unit) if block.start_byte <= imported.node.start_byte < block.end_byte)
    named = ((imported.module.split(".")[0], imported.node) for imported in inside)
    return [(top, node) for top, node in named if top not in provided]


def _settings(unit: PythonUnit, terms: dict[str, str]) -> Iterator[Match]:
    """Matches `attn_implementation="..."` as an argument, a default, an assignment or a dictionary entry."""
    for node in unit.nodes("keyword_argument", "default_parameter", "typed_default_parameter", "assignment", "pair"):
        name = next((n for n in map(node.child_by_field_name, ("name", "left", "key")) if n), None)
        value = next((n for n in map(node.child_by_field_name, ("value", "right")) if n), None)
        if name is None or value is None or not unit.slice(name).strip("\"'").endswith("attn_implementation"):
            continue
        if string_value(unit, value) in terms and not unit.is_guarded(node):
            yield match_at(unit, node, flag=f"attn_implementation={unit.slice(value)}")


def _flash_modules(unit: PythonUnit, block: Node, terms: dict[str, str]) -> list[str]:
    """The modules of flash attention that a try statement imports."""
    inner = (node for node in walk(block) if node.type in ("import_statement", "import_from_statement"))
    tops = [words[1].split(".")[0] for words in (unit.slice(node).split() for node in inner) if len(words) > 1]
    return [top for top in tops if top in terms]


def _flags(unit: PythonUnit, block: Node) -> set[str]:
    """Names set to True, False or None in a try statement, except names with a ROCm-specific value."""
    inner = [node for node in walk(block) if node.type == "assignment"]
    sides = [(node.child_by_field_name("left"), node.child_by_field_name("right"), node) for node in inner]
    rocm_specific = {unit.slice(left) for left, _, node in sides if left and unit.is_guarded(node)}
    flags = {unit.slice(left) for left, right, _ in sides if left and right and right.type in ("true", "false", "none")}
    return flags - rocm_specific


def _raise_statements(clause: Node) -> list[Node]:
    """The raise statements directly in a clause, without those of nested statements."""
    blocks = [clause, *(child for child in clause.named_children if child.type == "block")]
    return [child for block in blocks for child in block.named_children if child.type == "raise_statement"]


detector = Detector(__name__, code="PY101", unit_types=PythonUnit, find=find)
