"""torch.version.cuda compared, split or parsed as a string: with a ROCm torch it is None."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_dotted_name
from rocm3d.syntax.python import ImportedNames, PythonUnit, ancestors
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches string uses of the attribute, or of a variable that holds it.

    If the program checks the value first, nothing breaks: the check is a note, because ports usually change it. A
    comparison that is merely false for None is a note too.
    """
    if b"version" not in unit.data:
        return
    names, noted = ImportedNames(unit), set()
    candidates = [n for n in unit.nodes("attribute", "identifier") if names.full_name(n) in context.code.terms]
    candidates = [n for n in candidates if n.parent is None or n.parent.child_by_field_name("attribute") != n]
    copies = {unit.slice(left) for left in (_assigned_name(node) for node in candidates) if left is not None}
    candidates += [node for node in unit.nodes("identifier") if unit.slice(node) in copies]
    for node in sorted(candidates, key=lambda n: n.start_byte):
        use = _text_use(unit, node)
        if not use or unit.is_guarded(node):
            continue
        check = _preceding_check(unit, node, {*copies, *(unit.slice(candidate) for candidate in candidates)})
        if check is None:
            candidate = match_at(unit, node, use=use)
            yield Match(
                candidate.line, candidate.column, candidate.facts, severity="note" if _is_harmless(node) else None
            )
        elif check.start_byte not in noted:
            noted.add(check.start_byte)
            candidate = match_at(unit, check, use=f"`{use}` below, after this check")
            yield Match(candidate.line, candidate.column, candidate.facts, severity="note")


def _assigned_name(node: Node) -> Node | None:
    """The variable that the value is assigned to unchanged."""
    above = node.parent
    if above is None or above.type != "assignment" or above.child_by_field_name("right") != node:
        return None
    left = above.child_by_field_name("left")
    return left if left is not None and left.type == "identifier" else None


def _text_use(unit: PythonUnit, node: Node) -> str:
    """The source text of the string use, or "" if the use also works with None."""
    above = node.parent
    if above is None:
        return ""
    if above.type in ("attribute", "subscript", "binary_operator") and above.named_children[0] == node:
        outer = above.parent
        return unit.slice(outer if outer is not None and outer.type == "call" else above)
    if above.type == "comparison_operator":
        text = unit.slice(above)
        return "" if "None" in text else text
    if above.type == "argument_list" and above.parent is not None:
        function = above.parent.child_by_field_name("function")
        called = "" if function is None else unit.slice(function).rsplit(".", 1)[-1]
        parses = "version" in called.lower() or called in ("int", "float", "parse")
        return unit.slice(above.parent) if parses else ""
    return ""


def _is_harmless(node: Node) -> bool:
    """Whether None only makes a comparison false: equality and membership."""
    above = node.parent
    if above is None or above.type != "comparison_operator":
        return False
    signs = {child.type for child in above.children if not child.is_named}
    return signs <= {"==", "!="} or (signs <= {"in", "not in"} and above.named_children[0] == node)


def _preceding_check(unit: PythonUnit, node: Node, names: set[str]) -> Node | None:
    """The enclosing condition that already checks whether there is a value."""
    for above in ancestors(node):
        condition = above.child_by_field_name("condition") if above.type in ("if_statement", "elif_clause") else None
        if above.type == "conditional_expression" and len(above.named_children) == 3:
            condition = above.named_children[1]
        if above.type == "boolean_operator":
            condition = above.child_by_field_name("left")
        if condition is None or condition.start_byte <= node.start_byte < condition.end_byte:
            continue
        for inner in walk(condition):
            outer = inner.parent
            if unit.slice(inner) in names and outer is not None and not _text_use(unit, inner):
                return condition
    return None


detector = Detector(__name__, code="PY201", unit_types=PythonUnit, find=find, prefilter=contains_dotted_name)
