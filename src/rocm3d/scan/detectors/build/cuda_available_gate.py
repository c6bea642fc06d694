"""A build that checks for a visible GPU: image builds and login nodes have none, so device code is left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.build_script import defines_extension_package
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from rocm3d.model.finding import Severity

_DEVICE_CHOICE = re.compile(r"[\"']c(uda|pu)")


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches calls among the code's terms in conditions and flags of a script that builds extensions."""
    if not defines_extension_package(unit):
        return
    severity: Severity | None = "note" if b"FORCE_CUDA" in unit.data else None  # the user can force the CUDA build
    conditions = list(_conditions(unit))
    for call in unit.nodes("call"):
        function = call.child_by_field_name("function")
        if function is None or unit.slice(function) not in context.code.terms or unit.is_guarded(call):
            continue
        if any(node.start_byte <= call.start_byte and call.end_byte <= node.end_byte for node in conditions):
            line, column = unit.text.position(call.start_byte)
            yield Match(line, column, {"gate": unit.slice(call)}, severity=severity)


def _conditions(unit: PythonUnit) -> Iterator[Node]:
    """Yields conditions and the values of flags, but not the choice of a device to run on."""
    for node in unit.nodes("if_statement", "elif_clause", "conditional_expression", "assert_statement", "assignment"):
        if node.type == "conditional_expression":
            if len(node.named_children) == 3 and not _DEVICE_CHOICE.search(unit.slice(node)):
                yield node.named_children[1]
        elif node.type == "assert_statement":
            yield node
        elif node.type == "assignment":
            right = node.child_by_field_name("right")
            if right is not None and right.type in ("call", "boolean_operator", "not_operator", "comparison_operator"):
                yield right
        else:
            condition = node.child_by_field_name("condition")
            if condition is not None:
                yield condition


detector = Detector(__name__, code="BLD202", unit_types=PythonUnit, find=find)
