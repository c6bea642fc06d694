"""A failed import of a compiled package that silently selects a slow path. The code's terms list the modules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Match, DetectorContext, match_at
from rocm3d.scan.imported import package_of_import
from rocm3d.scan.needs import imports_term
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.python_names import imports
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_CATCHES = re.compile(rb"except\s*(:|\(?[\w\s,.]*(ImportError|ModuleNotFoundError|Exception))")
_SPEAKS = re.compile(r"(^|[._])(print|warn|warning|info|error|debug|log|exception)$")


def find(unit: PythonUnit, look: DetectorContext) -> Iterator[Match]:
    """Matches try statements around the import of a module that is among the terms and has a package record."""
    if b"except" not in unit.data:
        return
    taken = [(found, package_of_import(look.knowledge, found)) for found in imports(unit)]
    known = [(found, owned) for found, owned in taken if owned and owned[0].split(".")[0] in look.code.terms]
    for block in unit.nodes("try_statement") if known else ():
        body = block.child_by_field_name("body")
        handlers = [item for item in block.named_children if item.type == "except_clause"]
        if body is None or not any(_CATCHES.match(unit.data, item.start_byte) for item in handlers):
            continue
        inside = [(f, o) for f, o in known if body.start_byte <= f.node.start_byte < body.end_byte]
        if inside and not _is_told(unit, handlers) and not _is_asked(unit, block):
            found, (module, package) = inside[0]
            place = match_at(unit, found.node, module=module)
            yield Match(place.line, place.column, place.facts, package.id)


def _is_told(unit: PythonUnit, handlers: list[Node]) -> bool:
    """Whether the handler raises, prints or logs."""
    inner = [node for handler in handlers for node in walk(handler)]
    called = [node.child_by_field_name("function") for node in inner if node.type == "call"]
    return any(node.type == "raise_statement" for node in inner) or any(
        function is not None and _SPEAKS.search(unit.slice(function)) for function in called
    )


def _is_asked(unit: PythonUnit, block: Node) -> bool:
    """Whether a name that the try statement sets is asserted, raised on or printed: the user sees the fallback."""
    inner = list(walk(block))
    sides = [node.child_by_field_name("left") for node in inner if node.type == "assignment"]
    names = {unit.slice(left) for left in sides if left is not None and left.type == "identifier"}
    for node in unit.nodes("assert_statement", "if_statement", "call"):
        asked: Node | None = node
        if node.type == "if_statement":
            stops = any(item.type == "raise_statement" for item in walk(node))
            asked = node.child_by_field_name("condition") if stops else None
        elif node.type == "call":
            function = node.child_by_field_name("function")
            asked = node if function is not None and _SPEAKS.search(unit.slice(function)) else None
        if asked and any(item.type == "identifier" and unit.slice(item) in names for item in walk(asked)):
            return True
    return False


detector = Detector(__name__, code="PY104", unit_types=PythonUnit, find=find, prefilter=imports_term)
