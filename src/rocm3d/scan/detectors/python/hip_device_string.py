"""A device named "hip" or "rocm": in torch AMD GPUs are "cuda" devices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, plain_strings, positional_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_TAKES_DEVICE = re.compile(r"(^|\.)(device|to|set_default_device|autocast)$")
_DEVICE = re.compile(r"(^|[._])device(_type)?$")


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches such strings where torch expects a device, also inside ROCm guards: the code raises there."""
    if not any(quote + term.encode() in unit.data for term in context.code.terms for quote in (b'"', b"'")):
        return
    for value in _device_values(unit):
        for node, text in plain_strings(unit, value):
            compared = node.parent is not None and node.parent.type in ("comparison_operator", "subscript")
            if text in context.code.terms and not compared:
                yield match_at(unit, node, device=text)


def _device_values(unit: PythonUnit) -> Iterator[Node]:
    """Values that become a device: arguments, keywords, defaults and assignments."""
    for node in unit.nodes("call", "keyword_argument", "default_parameter", "typed_default_parameter", "assignment"):
        if node.type == "call":
            function, call_arguments = node.child_by_field_name("function"), positional_arguments(node)
            if function is not None and call_arguments and _TAKES_DEVICE.search(unit.slice(function)):
                yield call_arguments[0]
            continue
        name = next((n for n in map(node.child_by_field_name, ("name", "left")) if n), None)
        value = next((n for n in map(node.child_by_field_name, ("value", "right")) if n), None)
        if name is None or value is None or not _DEVICE.search(unit.slice(name)):
            continue
        if value.type in ("string", "conditional_expression"):
            yield value


detector = Detector(__name__, code="PY204", unit_types=PythonUnit, find=find)
