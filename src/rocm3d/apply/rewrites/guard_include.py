"""Puts `#if` around includes that a ROCm build must skip. Parameters: headers, refuse_if_called, guard."""

from __future__ import annotations

import re

from rocm3d.apply.rewrite import Refuse, Rewrite, words
from rocm3d.model.recipe import Parameters
from rocm3d.model.text import Text
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive, directives

_HEADER = re.compile(rb'#\s*include\s*[<"]([^>"\n]+)[>"]')
# torch's BuildExtension defines USE_ROCM for every source; other builds may define only the platform macro.
_GUARDS = {
    "torch": b"#if !defined(USE_ROCM)",
    "any": b"#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)",
}


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Wrap each matching include that both builds see; adjacent ones share a guard."""
    unit = CudaUnit("", data)
    runs = _adjacent([item for item in _includes(unit, words(parameters, "headers")) if unit.is_shared(item.start)])
    if not runs:
        return data
    called = _called(unit) & set(words(parameters, "refuse_if_called"))
    if called:
        raise Refuse(f"{', '.join(sorted(called))} of the header is called")
    newline, guard = Text(data).newline, _GUARDS[str(parameters.get("guard", "any"))]
    out, at = [], 0
    for first, last in runs:
        body = data[first.start : last.end]
        ending = b"" if body.endswith(b"\n") else newline
        out += [data[at : first.start], guard, newline, body, ending, b"#endif", newline if not ending else b""]
        at = last.end
    return b"".join([*out, data[at:]])


def _includes(unit: CudaUnit, headers: tuple[str, ...]) -> list[Directive]:
    wanted = {header.encode() for header in headers}
    found = []
    for item in directives(unit.data):
        match = _HEADER.search(unit.data, item.start, item.end) if item.keyword == "include" else None
        if match is not None and match.group(1) in wanted:
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


def _called(unit: CudaUnit) -> set[str]:
    functions = (call.child_by_field_name("function") for call in unit.nodes("call_expression"))
    names = (re.split(r"[<\s]", unit.slice(function), maxsplit=1)[0] for function in functions if function is not None)
    return {name.rsplit("::", 1)[-1] for name in names}


rewrite = Rewrite(__name__, edit)
