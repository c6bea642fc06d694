"""Puts `#if` around includes that a ROCm build must skip. Parameters: headers, refuse_if_called, guard."""

from __future__ import annotations

import re

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
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
    runs = _adjacent_runs(
        [
            directive
            for directive in _includes(unit, list_parameter(parameters, "headers"))
            if unit.is_shared(directive.start)
        ]
    )
    if not runs:
        return data
    used_names = _identifiers(data) & set(list_parameter(parameters, "refuse_if_called"))
    if used_names:
        raise RewriteRefusedError(f"this file uses {', '.join(sorted(used_names))} from the header")
    if not data[runs[-1][1].start : runs[-1][1].end].endswith(b"\n"):
        raise RewriteRefusedError("the include is the last line and has no newline")
    newline, guard = Text(data).newline, _GUARDS[str(parameters.get("guard", "any"))]
    out, position = [], 0
    for first, last in runs:
        body = data[first.start : last.end]
        out += [data[position : first.start], guard, newline, body, b"#endif", newline]
        position = last.end
    return b"".join([*out, data[position:]])


def _includes(unit: CudaUnit, headers: tuple[str, ...]) -> list[Directive]:
    includes = []
    for directive in directives(unit.data):
        match = _HEADER.match(directive.argument) if directive.keyword == "include" else None
        if match is not None and match.group(1) in headers:
            includes.append(directive)
    return includes


def _adjacent_runs(includes: list[Directive]) -> list[tuple[Directive, Directive]]:
    runs: list[tuple[Directive, Directive]] = []
    for directive in includes:
        if runs and runs[-1][1].end == directive.start:
            runs[-1] = (runs[-1][0], directive)
        else:
            runs.append((directive, directive))
    return runs


def _identifiers(data: bytes) -> set[str]:
    """Identifiers outside comments, strings and includes: a macro or `using` needs the header as a call does."""
    text = bytearray(blanked(data))
    for directive in directives(data):
        if directive.keyword == "include":
            text[directive.start : directive.end] = b" " * (directive.end - directive.start)
    return {identifier.decode() for identifier in re.findall(rb"[A-Za-z_]\w*", bytes(text))}
