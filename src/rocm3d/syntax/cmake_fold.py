"""CMake files without ROCm: what stands between `if(USE_ROCM)` and its `else()` or `endif()` is left out.

The grammar is that of https://cmake.org/cmake/help/latest/manual/cmake-language.7.html. Nothing is run.
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


class UnfoldableCMake(ValueError):  # noqa: N818  (says what the file is)
    """The file cannot be judged: it does not read as CMake, or sets the switch itself."""


@dataclass(frozen=True)
class Command:
    """One command: its name in lower case, its arguments as they stand, and its bytes."""

    name: bytes
    arguments: tuple[bytes, ...]
    start: int
    end: int


def commands(data: bytes) -> Iterator[Command]:
    """Every command in order."""
    at = 0
    while (at := _after_space(data, at)) < len(data):
        name = _NAME.match(data, at)
        if name is None:
            line = data.count(b"\n", 0, at) + 1
            raise UnfoldableCMake(f"line {line} is no command")
        arguments, end = _arguments(data, name.end())
        yield Command(name[1].lower(), arguments, at, end)
        at = end


def folded(data: bytes) -> bytes:
    """The bytes that CMake meets where the switch is not set; whole lines are left out, and nothing else changes."""
    gone: list[tuple[int, int]] = []
    opened: list[int | None] = []  # where the part of a guard begins that is left out; None for any other block
    for command in commands(data):
        if command.name == b"if":
            opened.append(_line(data, command)[0] if command.arguments == (SWITCH,) else None)
        elif command.name in (b"else", b"elseif", b"endif"):
            if not opened:
                raise UnfoldableCMake(f"{command.name.decode()}() stands alone")
            opened += _closed(data, command, opened.pop(), gone)
        elif SWITCH in command.arguments:
            raise UnfoldableCMake(f"the file itself deals with {SWITCH.decode()}")
    if opened:
        raise UnfoldableCMake("an if() is not closed")
    return _without(data, gone)


def _closed(data: bytes, command: Command, begun: int | None, gone: list[tuple[int, int]]) -> list[int | None]:
    """The end of a part: a guard's is left out, and behind its else() only the last line. What is open after it."""
    is_last = command.name == b"endif"
    if begun is None:
        return [] if is_last else [None]
    if command.name == b"elseif":
        raise UnfoldableCMake(f"if({SWITCH.decode()}) goes on with elseif()")
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
    """The whole line of a command; a guard's commands must stand alone on theirs."""
    start = data.rfind(b"\n", 0, command.start) + 1
    end = data.find(b"\n", command.end)
    end = len(data) if end < 0 else end + 1
    if data[start : command.start].strip() or data[command.end : end].strip():
        raise UnfoldableCMake("a guard shares its line with something else")
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
    raise UnfoldableCMake("a command is not closed")
