"""Whether host code reads a constant whose value is known only in the device pass."""

from __future__ import annotations

import re

from tree_sitter import Node

from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

_DEVICE = re.compile(rb"\b__(?:device|global)__\b")
_HOST = re.compile(rb"\b__host__\b")


def first_host_read(unit: CudaUnit, name: str) -> int | None:
    """The first line that reads the name outside device functions, not counting definitions; None if none does."""
    code = blanked(unit.data)
    escaped_name = re.escape(name.encode())
    definition = re.compile(rb"#[ \t]*define[ \t]+" + escaped_name + rb"\b|\b" + escaped_name + rb"\s*=[^=]")
    defined_at = {match.start() + match.group().rindex(name.encode()) for match in definition.finditer(code)}
    bodies = [body for function in unit.nodes("function_definition") if (body := _device_body(unit, function))]
    for match in re.finditer(rb"\b" + escaped_name + rb"\b", code):
        inside = any(body.start_byte <= match.start() < body.end_byte for body in bodies)
        if match.start() not in defined_at and not inside and not _is_definition_test(code, match.start()):
            return unit.text.line_of(match.start())
    return None


def _device_body(unit: CudaUnit, function: Node) -> Node | None:
    body = function.child_by_field_name("body")
    head = unit.data[function.start_byte : function.start_byte if body is None else body.start_byte]
    return body if _DEVICE.search(head) and not _HOST.search(head) else None


def _is_definition_test(code: bytes, offset: int) -> bool:
    """Whether the name is in `#ifdef`, `#ifndef` or `#undef`, which do not read its value."""
    line = code[code.rfind(b"\n", 0, offset) + 1 : offset]
    return re.match(rb"[ \t]*#[ \t]*(?:ifdef|ifndef|undef)\b", line) is not None
