"""Joins launch chevrons that are written `<< <` and `>> >`: clang and hipify reject them. Parameters: guard.

The edit is a guarded copy of the lines. In a macro or a very long statement it is made in place: it is one of the edits
in syntax/closed_list.py.
"""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import Replacement, guard_lines
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

_OPEN, _CLOSE = re.compile(r"<\s*<\s*<"), re.compile(r">\s*>\s*>$")
# The grammar does not parse launches inside macros. Template arguments do not open with three `<`.
_IN_MACRO = re.compile(rb"<<[ \t]+<([^;{}]*?)>>[ \t]+>(?=\s*\()")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits every launch that both builds see."""
    unit = CudaUnit("", data)
    guarded: list[Replacement] = []
    in_place = _in_macros(unit)
    for launch in unit.nodes("kernel_call_syntax"):
        joined = _joined_chevrons(unit.slice(launch))
        if joined is None or not unit.is_shared(launch.start_byte):
            continue
        replacement = Replacement(launch.start_byte, launch.end_byte, joined.encode())
        (guarded if _can_be_guarded(data, replacement, parameters) else in_place).append(replacement)
    if not in_place:
        return guard_lines(data, guarded, parameters)
    # Edits in place shift offsets: parse again for the guarded ones.
    return edit(_edited_in_place(data, in_place), parameters)


def _joined_chevrons(launch: str) -> str | None:
    text = _CLOSE.sub(">>>", _OPEN.sub("<<<", launch, count=1))
    return text if text != launch else None


def _can_be_guarded(data: bytes, replacement: Replacement, parameters: Parameters) -> bool:
    try:
        guard_lines(data, [replacement], parameters)
    except RewriteRefusedError:
        return False
    return True


def _in_macros(unit: CudaUnit) -> list[Replacement]:
    replacements = []
    for node in unit.nodes("preproc_function_def", "preproc_def"):
        if not unit.is_shared(node.start_byte):
            continue
        code = blanked(unit.data)[node.start_byte : node.end_byte]
        for match in _IN_MACRO.finditer(code):
            start, end = node.start_byte + match.start(), node.start_byte + match.end()
            joined = _joined_chevrons(unit.data[start:end].decode("utf-8", "surrogateescape"))
            if joined is not None:
                replacements.append(Replacement(start, end, joined.encode("utf-8", "surrogateescape")))
    return replacements


def _edited_in_place(data: bytes, replacements: list[Replacement]) -> bytes:
    for item in sorted(replacements, key=lambda item: -item.start):
        data = data[: item.start] + item.text + data[item.end :]
    return data
