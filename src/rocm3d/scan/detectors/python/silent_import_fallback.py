"""A failed import of a compiled package that silently selects a slow path. The code's terms list the modules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.package_imports import package_of_import
from rocm3d.scan.prefilter import imports_term
from rocm3d.syntax.python import PythonUnit, imports
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_CATCHES = re.compile(rb"except\s*(:|\(?[\w\s,.]*(ImportError|ModuleNotFoundError|Exception))")
_LOG_CALL = re.compile(r"(^|[._])(print|warn|warning|info|error|debug|log|exception)$")


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches try statements around the import of a module that is among the terms and has a package record."""
    if b"except" not in unit.data:
        return
    owners = [(imported, package_of_import(context.knowledge, imported)) for imported in imports(unit)]
    known = [(imported, owned) for imported, owned in owners if owned and owned[0].split(".")[0] in context.code.terms]
    for block in unit.nodes("try_statement") if known else ():
        body = block.child_by_field_name("body")
        handlers = [child for child in block.named_children if child.type == "except_clause"]
        if body is None or not any(_CATCHES.match(unit.data, child.start_byte) for child in handlers):
            continue
        inside = [(f, o) for f, o in known if body.start_byte <= f.node.start_byte < body.end_byte]
        if inside and not _is_reported(unit, handlers) and not _is_checked_later(unit, block):
            imported, (module, package) = inside[0]
            match = match_at(unit, imported.node, module=module)
            yield Match(match.line, match.column, match.facts, package.id)


def _is_reported(unit: PythonUnit, handlers: list[Node]) -> bool:
    """Whether the handler raises, prints or logs."""
    inner = [node for handler in handlers for node in walk(handler)]
    called = [node.child_by_field_name("function") for node in inner if node.type == "call"]
    return any(node.type == "raise_statement" for node in inner) or any(
        function is not None and _LOG_CALL.search(unit.slice(function)) for function in called
    )


def _is_checked_later(unit: PythonUnit, block: Node) -> bool:
    """Whether a name that the try statement sets is asserted, raised on or printed: the user sees the fallback."""
    inner = list(walk(block))
    sides = [node.child_by_field_name("left") for node in inner if node.type == "assignment"]
    names = {unit.slice(left) for left in sides if left is not None and left.type == "identifier"}
    for node in unit.nodes("assert_statement", "if_statement", "call"):
        condition: Node | None = node
        if node.type == "if_statement":
            stops = any(child.type == "raise_statement" for child in walk(node))
            condition = node.child_by_field_name("condition") if stops else None
        elif node.type == "call":
            function = node.child_by_field_name("function")
            condition = node if function is not None and _LOG_CALL.search(unit.slice(function)) else None
        if condition and any(child.type == "identifier" and unit.slice(child) in names for child in walk(condition)):
            return True
    return False


detector = Detector(__name__, code="PY104", unit_types=PythonUnit, find=find, prefilter=imports_term)
