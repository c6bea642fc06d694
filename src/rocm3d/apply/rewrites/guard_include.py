"""Puts `#if` around includes that a ROCm build must skip. Parameters: headers, refuse_if_called, guard."""

from __future__ import annotations

import re

from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.model.text import Text
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive, blanked, directives

_HEADER = re.compile(r'[<"]([^>"\n]+)[>"]')
# torch's BuildExtension defines USE_ROCM for every source; other builds may define only the platform macro.
_GUARDS = {
    "torch": b"#if !defined(USE_ROCM)",
    "any": b"#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)",
}


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Wraps each matching include that both builds see; adjacent includes share a guard."""
    unit = CudaUnit("", data)
    runs = _adjacent([item for item in _includes(unit, list_parameter(parameters, "headers")) if unit.is_shared(item.start)])
    if not runs:
        return data
    needed = _named(data) & set(list_parameter(parameters, "refuse_if_called"))
    if needed:
        raise RewriteRefusedError(f"this file uses {', '.join(sorted(needed))} from the header")
    if not data[runs[-1][1].start : runs[-1][1].end].endswith(b"\n"):
        raise RewriteRefusedError("the include is the last line and has no newline")
    newline, guard = Text(data).newline, _GUARDS[str(parameters.get("guard", "any"))]
    out, at = [], 0
    for first, last in runs:
        body = data[first.start : last.end]
        out += [data[at : first.start], guard, newline, body, b"#endif", newline]
        at = last.end
    return b"".join([*out, data[at:]])


def _includes(unit: CudaUnit, headers: tuple[str, ...]) -> list[Directive]:
    found = []
    for item in directives(unit.data):
        match = _HEADER.match(item.argument) if item.keyword == "include" else None
        if match is not None and match.group(1) in headers:
            found.append(item)
    return found


def _adjacent(items: list[Directive]) -> list[tuple[Directive, Directive]]:
    runs: list[tuple[Directive, Directive]] = []
    for item in items:
        if runs and runs[-1][1].end == item.start:
            runs[-1] = (runs[-1][0], item)
        else:
            runs.append((item, item))
    return runs


def _named(data: bytes) -> set[str]:
    """Identifiers outside comments, strings and includes: a macro or `using` needs the header as a call does."""
    text = bytearray(blanked(data))
    for item in directives(data):
        if item.keyword == "include":
            text[item.start : item.end] = b" " * (item.end - item.start)
    return {word.decode() for word in re.findall(rb"[A-Za-z_]\w*", bytes(text))}


rewrite = Rewrite(__name__, edit)
