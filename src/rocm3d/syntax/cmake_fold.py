"""CMake files with USE_ROCM off: removes the lines between `if(USE_ROCM)` and its `else()` or `endif()`.

Grammar: https://cmake.org/cmake/help/latest/manual/cmake-language.7.html. Nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

ROCM_SWITCH = b"USE_ROCM"

_SKIPPED = re.compile(rb"#\[(=*)\[.*?(?:\]\1\]|\Z)|#[^\n]*|\s+", re.DOTALL)
_NAME = re.compile(rb"([A-Za-z_]\w*)[ \t]*\(")
_ARGUMENT = re.compile(rb'\[(=*)\[.*?\]\1\]|"(?:[^"\\]|\\.)*"|(?:[^\s()#"\\]|\\.)+', re.DOTALL)
_RETAINED = -1


class CMakeFoldError(ValueError):
    """The file cannot be folded: it is not valid CMake, or it sets USE_ROCM itself."""


@dataclass(frozen=True)
class CMakeCommand:
    """One command: lower-case name, raw arguments, byte range."""

    name: bytes
    arguments: tuple[bytes, ...]
    start: int
    end: int


def commands(data: bytes) -> Iterator[CMakeCommand]:
    offset = 0
    while (offset := _skip_space(data, offset)) < len(data):
        name = _NAME.match(data, offset)
        if name is None:
            line = data.count(b"\n", 0, offset) + 1
            raise CMakeFoldError(f"line {line} is not a CMake command")
        arguments, end = _arguments(data, name.end())
        yield CMakeCommand(name[1].lower(), arguments, offset, end)
        offset = end


def fold_cmake(data: bytes) -> bytes:
    """The file as CMake reads it with USE_ROCM off. Only whole lines are removed."""
    removed: list[tuple[int, int]] = []
    open_blocks: list[int | None] = []  # start of the removed part of a guard; None for any other block
    for command in commands(data):
        if command.name == b"if":
            open_blocks.append(_line_range(data, command)[0] if command.arguments == (ROCM_SWITCH,) else None)
        elif command.name in (b"else", b"elseif", b"endif"):
            if not open_blocks:
                raise CMakeFoldError(f"{command.name.decode()}() without if()")
            open_blocks += _close_block(data, command, open_blocks.pop(), removed)
        elif ROCM_SWITCH in command.arguments:
            raise CMakeFoldError(f"the file uses {ROCM_SWITCH.decode()} outside if({ROCM_SWITCH.decode()})")
    if open_blocks:
        raise CMakeFoldError("if() without endif()")
    return _remove_ranges(data, removed)


def _close_block(
    data: bytes, command: CMakeCommand, removed_start: int | None, removed: list[tuple[int, int]]
) -> list[int | None]:
    """Handle else(), elseif() or endif(): record the removed range, and return the block that is open afterwards."""
    is_last = command.name == b"endif"
    if removed_start is None:
        return [] if is_last else [None]
    if command.name == b"elseif":
        raise CMakeFoldError(f"elseif() after if({ROCM_SWITCH.decode()}) is not supported")
    start, end = _line_range(data, command)
    removed.append((start if removed_start == _RETAINED else removed_start, end))
    return [] if is_last else [_RETAINED]


def _remove_ranges(data: bytes, removed: list[tuple[int, int]]) -> bytes:
    retained, offset = [], 0
    for start, end in sorted(removed):
        retained.append(data[offset : max(offset, start)])
        offset = max(offset, end)
    return b"".join([*retained, data[offset:]])


def _line_range(data: bytes, command: CMakeCommand) -> tuple[int, int]:
    """The byte range of the line of a command; commands of a guard must be alone on their line."""
    start = data.rfind(b"\n", 0, command.start) + 1
    end = data.find(b"\n", command.end)
    end = len(data) if end < 0 else end + 1
    if data[start : command.start].strip() or data[command.end : end].strip():
        raise CMakeFoldError("other code on the line of a guard")
    return start, end


def _skip_space(data: bytes, offset: int) -> int:
    while match := _SKIPPED.match(data, offset):
        offset = match.end()
    return offset


def _arguments(data: bytes, offset: int) -> tuple[tuple[bytes, ...], int]:
    arguments: list[bytes] = []
    depth = 0
    while (offset := _skip_space(data, offset)) < len(data):
        char = data[offset : offset + 1]
        if char == b")" and depth == 0:
            return tuple(arguments), offset + 1
        if char in b"()":
            depth += 1 if char == b"(" else -1
            arguments.append(char)
            offset += 1
        elif match := _ARGUMENT.match(data, offset):
            arguments.append(match.group())
            offset = match.end()
        else:
            break
    raise CMakeFoldError("a command has no closing parenthesis")
