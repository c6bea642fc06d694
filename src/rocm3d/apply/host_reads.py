"""Whether host code reads a constant whose value is known only in the device pass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from tree_sitter import Node

    from rocm3d.syntax.cuda import CudaUnit

_DEVICE = re.compile(rb"\b__(?:device|global)__\b")
_HOST = re.compile(rb"\b__host__\b")


def read_on_host(unit: CudaUnit, name: str) -> int | None:
    """The first line that reads the name outside device functions, not counting definitions; None if none does."""
    shown = blanked(unit.data)
    word = re.escape(name.encode())
    defined = re.compile(rb"#[ \t]*define[ \t]+" + word + rb"\b|\b" + word + rb"\s*=[^=]")
    own = {match.start() + match.group().rindex(name.encode()) for match in defined.finditer(shown)}
    bodies = [body for function in unit.nodes("function_definition") if (body := _device_body(unit, function))]
    for match in re.finditer(rb"\b" + word + rb"\b", shown):
        inside = any(body.start_byte <= match.start() < body.end_byte for body in bodies)
        if match.start() not in own and not inside and not _in_condition(shown, match.start()):
            return unit.text.line_of(match.start())
    return None


def _device_body(unit: CudaUnit, function: Node) -> Node | None:
    body = function.child_by_field_name("body")
    head = unit.data[function.start_byte : function.start_byte if body is None else body.start_byte]
    return body if _DEVICE.search(head) and not _HOST.search(head) else None


def _in_condition(shown: bytes, at: int) -> bool:
    """Whether the name is in `#ifdef`, `#ifndef` or `#undef`, which do not read its value."""
    line = shown[shown.rfind(b"\n", 0, at) + 1 : at]
    return re.match(rb"[ \t]*#[ \t]*(?:ifdef|ifndef|undef)\b", line) is not None
