"""Edits of C++ text as `#if` ROCm lines `#else` original lines `#endif`, never with a directive inside a call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.apply.rewrite import Refuse
from rocm3d.model.text import Text
from rocm3d.syntax.directives import Directive, blanked, directives

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm3d.model.recipe import Parameters

# torch's BuildExtension defines USE_ROCM for every source; other builds may define only the platform macro.
_GUARDS = {"torch": b"defined(USE_ROCM)", "any": b"defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)"}
# Longer copies are unreadable: such edits need a macro alias, or a manual edit.
_MOST_LINES = 24
# A function or block up to this length is copied completely.
_NEAR_LINES = 8


@dataclass(frozen=True)
class Replacement:
    """Bytes [start, end) of the file, and their replacement in a ROCm build."""

    start: int
    end: int
    text: bytes


@dataclass(frozen=True)
class Lines:
    """Complete lines at bytes [start, end), and their replacement in a ROCm build; None removes them there."""

    start: int
    end: int
    rocm: str | None


@dataclass(frozen=True)
class _Block:
    """Complete lines at bytes [start, end), and the replacements in them."""

    start: int
    end: int
    inside: tuple[Replacement, ...]


def guard(parameters: Parameters) -> bytes:
    """The preprocessor condition of a ROCm build, chosen by the parameter `guard` of the recipe or the plan."""
    return _GUARDS[str(parameters.get("guard", "any"))]


def guard_lines(data: bytes, replacements: Iterable[Replacement], parameters: Parameters) -> bytes:
    """Make each replacement in a guarded copy of its lines. Lines inside one pair of parentheses stay together."""
    wanted = sorted(replacements, key=lambda item: item.start)
    if not wanted:
        return data
    newline = Text(data).newline
    out, at = [], 0
    for block in _blocks(data, wanted):
        out += [data[at : block.start], b"#if ", guard(parameters), newline, _replaced(data, block)]
        out += [b"#else", newline, data[block.start : block.end], b"#endif", newline]
        at = block.end
    return b"".join([*out, data[at:]])


def choose_lines(data: bytes, chosen: Iterable[Lines], parameters: Parameters) -> bytes:
    """Put each range of lines behind the guard; the lines may contain directives."""
    newline, condition = Text(data).newline, guard(parameters)
    out, at = [], 0
    for item in sorted(chosen, key=lambda item: item.start):
        own = data[item.start : item.end]
        if not own.endswith(b"\n") or item.start < at:
            raise Refuse("the last line has no newline" if item.start >= at else "two edits overlap")
        if item.rocm is None:
            parts = [b"#if ", unless_rocm(parameters), newline, own]
        else:
            rocm = item.rocm.encode().replace(b"\n", newline)
            parts = [b"#if ", condition, newline, rocm, b"#else", newline, own]
        out += [data[at : item.start], *parts, b"#endif", newline]
        at = item.end
    return b"".join([*out, data[at:]])


def unless_rocm(parameters: Parameters) -> bytes:
    """The preprocessor condition of all other builds."""
    return b" && ".join(b"!" + part for part in guard(parameters).split(b" || "))


def insert_guarded(data: bytes, at: int, text: bytes, parameters: Parameters) -> bytes:
    """Insert lines for ROCm builds only, before the line that begins at `offset`."""
    newline = Text(data).newline
    body = text.replace(b"\n", newline)
    return b"".join([data[:at], b"#if ", guard(parameters), newline, body, b"#endif", newline, data[at:]])


def after_includes(data: bytes, before: int | None = None) -> int:
    """Where to insert helpers: the start of the line after the last top-level include in front of offset `before`."""
    opened: list[bool] = []  # for each open #if: whether it contains an include
    place = 0
    for item in _without_include_guard(data):
        if before is not None and item.start >= before:
            break
        if item.keyword in ("if", "ifdef", "ifndef"):
            opened.append(False)
        elif item.keyword == "endif" and opened:
            if opened.pop() and not opened:
                place = item.end
        elif item.keyword == "include" and not opened:
            place = item.end
        elif item.keyword == "include":
            opened = [True] * len(opened)
        elif item.keyword == "pragma" and item.argument == "once":
            place = max(place, item.end)
    return _checked_place(data, place)


def _without_include_guard(data: bytes) -> list[Directive]:
    """The file's directives. An include guard around the complete file counts as `#pragma once`."""
    found = directives(data)
    if len(found) > 2 and found[0].keyword == "ifndef" and found[1].keyword == "define":
        depth, ends = 0, -1
        for index, item in enumerate(found):
            depth += {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}.get(item.keyword, 0)
            if depth == 0:
                ends = index
                break
        if found[0].argument == found[1].argument and ends == len(found) - 1:
            return [Directive("pragma", "once", found[1].start, found[1].end), *found[2:-1]]
    return found


def _checked_place(data: bytes, place: int) -> int:
    shown = blanked(data)[:place]
    if place and not data[:place].endswith(b"\n"):
        raise Refuse("the last include has no newline")
    if shown.count(b"{") != shown.count(b"}"):
        raise Refuse("the last include is inside braces")
    return place


def _blocks(data: bytes, wanted: Sequence[Replacement]) -> list[_Block]:
    shown = blanked(data)
    spans = [(item.start, item.end) for item in directives(data)]
    found: list[_Block] = []
    for item in wanted:
        start, end = _whole_lines(shown, item.start, item.end)
        end = _balanced(shown, start, end)
        if any(first < end and start < last for first, last in spans):
            raise Refuse("the lines contain a preprocessor directive")
        if found and _belongs(data, found[-1], start, end):
            previous = found.pop()
            start, end = previous.start, max(end, previous.end)
            found.append(_Block(start, end, (*previous.inside, item)))
        else:
            found.append(_Block(start, end, (item,)))
    for block in found:
        if data.count(b"\n", block.start, block.end) > _MOST_LINES:
            raise Refuse(f"the guarded copy would have more than {_MOST_LINES} lines")
        if not data[: block.end].endswith(b"\n"):
            raise Refuse("the last line has no newline")
    return found


def _belongs(data: bytes, previous: _Block, start: int, end: int) -> bool:
    """Whether the lines overlap the block, or follow it directly and keep it within the length limit."""
    touches = start == previous.end and data.count(b"\n", previous.start, end) <= _MOST_LINES
    return start < previous.end or touches


def _whole_lines(shown: bytes, start: int, end: int) -> tuple[int, int]:
    """The range, extended to complete lines until no parenthesis is open at either end."""
    first = shown.rfind(b"\n", 0, start) + 1
    while first > 0 and _open_at(shown, first) > 0:
        first = shown.rfind(b"\n", 0, first - 1) + 1
    depth = 0
    last = first
    while last < len(shown):
        newline = shown.find(b"\n", last)
        stop = len(shown) if newline < 0 else newline + 1
        depth += shown.count(b"(", last, stop) - shown.count(b")", last, stop)
        last = stop
        if last >= end and depth <= 0:
            break
    return first, last


def _balanced(shown: bytes, start: int, end: int) -> int:
    """Extend lines that open a brace to its closing brace, if it is near: a branch is easier to read with both."""
    depth, last = 0, start
    for _ in range(_NEAR_LINES):
        newline = shown.find(b"\n", last)
        stop = len(shown) if newline < 0 else newline + 1
        for sign in re.findall(rb"[{}#]", shown[last:stop]):
            depth += {b"{": 1, b"}": -1}.get(sign, 0)
            if depth < 0 or sign == b"#":
                return end
        last = stop
        if last >= end and depth == 0:
            return last
    return end


def _open_at(shown: bytes, at: int) -> int:
    """Open parentheses at an offset, counted from the last line that starts with `}`: none is open there."""
    begin = shown.rfind(b"\n}", 0, at) + 1
    return shown.count(b"(", begin, at) - shown.count(b")", begin, at)


def _replaced(data: bytes, block: _Block) -> bytes:
    out, at = [], block.start
    for item in sorted(block.inside, key=lambda item: item.start):
        if item.start < at:
            raise Refuse("two edits overlap")
        out += [data[at : item.start], item.text]
        at = item.end
    return b"".join([*out, data[at : block.end]])
