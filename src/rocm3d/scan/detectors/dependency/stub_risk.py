"""A stub module: sys.modules["kaolin"] = types.ModuleType("kaolin"). The import succeeds, but calls fail.

Code inside a ROCm guard is reported too, because ports put their stubs there. A module without a record, or a submodule
of a known one, is a note: projects use the same technique for shims of moved functions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.python import PythonUnit, string_value
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_TABLE = "sys.modules"


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches assignments to sys.modules whose value is created by one of the code's terms."""
    if b"sys" not in unit.data:
        return
    known = {name for package in context.knowledge.packages.values() for name in package.imports}
    for statement, module, value in _module_assignments(unit):
        how = _stub_reason(unit, value, context)
        if how is not None:
            line, column = unit.text.position(statement.start_byte)
            match = Match(line, column, {"module": module, "how": how})
            yield match if module in known else replace(match, severity="note")


def _module_assignments(unit: PythonUnit) -> Iterator[tuple[Node, str, Node]]:
    """Yields the statement, the module name and the assigned value."""
    for node in unit.nodes("assignment", "call"):
        if node.type == "assignment":
            left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
            owner = None if left is None or left.type != "subscript" else left.child_by_field_name("value")
            keys = [] if left is None or owner is None else left.children_by_field_name("subscript")
        else:
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            argument_nodes = [] if arguments is None else arguments.named_children
            is_default = (
                function is not None and unit.slice(function) == f"{_TABLE}.setdefault" and len(argument_nodes) == 2
            )
            owner = function.child_by_field_name("object") if function is not None and is_default else None
            keys, value = argument_nodes[:1], argument_nodes[1] if len(argument_nodes) == 2 else None
        if owner is not None and value is not None and keys and unit.slice(owner) == _TABLE:
            yield node, string_value(unit, keys[0]) or unit.slice(keys[0]), value


def _stub_reason(unit: PythonUnit, value: Node, context: DetectorContext) -> str | None:
    """The reason of the term that creates the value, directly or through a variable. None if no term does."""
    values = [value]
    if value.type == "identifier":
        name = unit.slice(value)
        values += [
            right
            for assignment in unit.nodes("assignment")
            if (left := assignment.child_by_field_name("left")) is not None
            and (right := assignment.child_by_field_name("right")) is not None
            and unit.slice(left) == name
        ]
    names = {
        unit.slice(inner).rsplit(".", 1)[-1]
        for node in values
        for inner in walk(node)
        if inner.type in ("identifier", "attribute")
    }
    return next((why for term, why in context.code.terms.items() if term.rsplit(".", 1)[-1] in names), None)


detector = Detector(__name__, code="DEP302", unit_types=PythonUnit, find=find, prefilter=(b"sys.modules",))
