"""CMake files with USE_ROCM off: removes the lines between `if(USE_ROCM)` and its `else()` or `endif()`.

Grammar: https://cmake.org/cmake/help/latest/manual/cmake-language.7.html. Nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SWITCH = b"USE_ROCM"

_SKIPPED = re.compile(rb"#\[(=*)\[.*?(?:\]\1\]|\Z)|#[^\n]*|\s+", re.DOTALL)
_NAME = re.compile(rb"([A-Za-z_]\w*)[ \t]*\(")
_ARGUMENT = re.compile(rb'\[(=*)\[.*?\]\1\]|"(?:[^"\\]|\\.)*"|(?:[^\s()#"\\]|\\.)+', re.DOTALL)
_KEPT = -1


class UnfoldableCMake(ValueError):  # noqa: N818
    """The file cannot be folded: it is not valid CMake, or it sets USE_ROCM itself."""


@dataclass(frozen=True)
class Command:
    """One command: lower-case name, raw arguments, byte range."""

    name: bytes
    arguments: tuple[bytes, ...]
    start: int
    end: int


def commands(data: bytes) -> Iterator[Command]:
    at = 0
    while (at := _after_space(data, at)) < len(data):
        name = _NAME.match(data, at)
        if name is None:
            line = data.count(b"\n", 0, at) + 1
            raise UnfoldableCMake(f"line {line} is not a CMake command")
        arguments, end = _arguments(data, name.end())
        yield Command(name[1].lower(), arguments, at, end)
        at = end


def folded(data: bytes) -> bytes:
    """The file as CMake reads it with USE_ROCM off. Only whole lines are removed."""
    gone: list[tuple[int, int]] = []
    opened: list[int | None] = []  # start of the removed part of a guard; None for any other block
    for command in commands(data):
        if command.name == b"if":
            opened.append(_line(data, command)[0] if command.arguments == (SWITCH,) else None)
        elif command.name in (b"else", b"elseif", b"endif"):
            if not opened:
                raise UnfoldableCMake(f"{command.name.decode()}() without if()")
            opened += _closed(data, command, opened.pop(), gone)
        elif SWITCH in command.arguments:
            raise UnfoldableCMake(f"the file uses {SWITCH.decode()} outside if({SWITCH.decode()})")
    if opened:
        raise UnfoldableCMake("if() without endif()")
    return _without(data, gone)


def _closed(data: bytes, command: Command, begun: int | None, gone: list[tuple[int, int]]) -> list[int | None]:
    """Handle else(), elseif() or endif(): record the removed range, and return the block that is open afterwards."""
    is_last = command.name == b"endif"
    if begun is None:
        return [] if is_last else [None]
    if command.name == b"elseif":
        raise UnfoldableCMake(f"elseif() after if({SWITCH.decode()}) is not supported")
    start, end = _line(data, command)
    gone.append((start if begun == _KEPT else begun, end))
    return [] if is_last else [_KEPT]


def _without(data: bytes, gone: list[tuple[int, int]]) -> bytes:
    out, at = [], 0
    for start, end in sorted(gone):
        out.append(data[at : max(at, start)])
        at = max(at, end)
    return b"".join([*out, data[at:]])


def _line(data: bytes, command: Command) -> tuple[int, int]:
    """The byte range of the line of a command; commands of a guard must be alone on their line."""
    start = data.rfind(b"\n", 0, command.start) + 1
    end = data.find(b"\n", command.end)
    end = len(data) if end < 0 else end + 1
    if data[start : command.start].strip() or data[command.end : end].strip():
        raise UnfoldableCMake("other code on the line of a guard")
    return start, end


def _after_space(data: bytes, at: int) -> int:
    while match := _SKIPPED.match(data, at):
        at = match.end()
    return at


def _arguments(data: bytes, at: int) -> tuple[tuple[bytes, ...], int]:
    found: list[bytes] = []
    depth = 0
    while (at := _after_space(data, at)) < len(data):
        char = data[at : at + 1]
        if char == b")" and depth == 0:
            return tuple(found), at + 1
        if char in b"()":
            depth += 1 if char == b"(" else -1
            found.append(char)
            at += 1
        elif match := _ARGUMENT.match(data, at):
            found.append(match.group())
            at = match.end()
        else:
            break
    raise UnfoldableCMake("a command has no closing parenthesis")
