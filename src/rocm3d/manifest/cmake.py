"""CMake files: every command with its arguments and position. Nothing is run."""

from __future__ import annotations

import re

from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, ScriptCommand, posix_path
from rocm3d.manifest.script import LineIndex

_BRACKET = re.compile(r"\[(=*)\[.*?(?:\]\1\]|\Z)", re.DOTALL)
_COMMENT = re.compile(r"#(?!\[=*\[)[^\n]*")
_NAME = re.compile(r"[A-Za-z_]\w*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)(?:"|\Z)', re.DOTALL)
_UNQUOTED = re.compile(r'(?:[^\s()#"\\]|\\.|"(?:[^"\\]|\\.)*")+', re.DOTALL)
_SPACE = re.compile(r"\s+")


def is_cmake(path: str) -> bool:
    parts = posix_path(path)
    return parts.name == "CMakeLists.txt" or parts.suffix.lower() == ".cmake"


def read(path: str, data: bytes) -> ParsedManifest:
    """All commands in order, with lower-case names. Parentheses inside a call are arguments."""
    text = data.decode("utf-8", "replace")
    commands: list[ScriptCommand] = []
    unread: list[tuple[int, str]] = []
    lines, offset = LineIndex(text), 0
    while (offset := _skip_space(text, offset)) < len(text):
        name = _NAME.match(text, offset)
        opening = -1 if name is None else _skip_space(text, name.end())
        if name is None or text[opening : opening + 1] != "(":
            offset = offset + 1 if name is None else name.end()
            continue
        line, column = lines.position(offset)
        arguments, offset, closed = _arguments(text, opening + 1)
        commands.append(ScriptCommand(name.group().lower(), arguments, line, column))
        if not closed:
            unread.append((line, f"{name.group()}( has no closing parenthesis"))
    return ParsedManifest(path, reader.kind, data, commands=tuple(commands), unread=tuple(unread))


def _skip_space(text: str, offset: int) -> int:
    """The offset after spaces and comments."""
    while offset < len(text):
        match = _SPACE.match(text, offset) or _COMMENT.match(text, offset)
        if match is None and text[offset] == "#":
            match = _BRACKET.match(text, offset + 1)
        if match is None:
            break
        offset = match.end()
    return offset


def _arguments(text: str, offset: int) -> tuple[tuple[str, ...], int, bool]:
    """The arguments, the offset after the closing parenthesis, and whether there is one."""
    arguments: list[str] = []
    depth = 0
    while (offset := _skip_space(text, offset)) < len(text):
        char = text[offset]
        if char == ")" and depth == 0:
            return tuple(arguments), offset + 1, True
        if char in "()":
            depth += 1 if char == "(" else -1
            arguments.append(char)
            offset += 1
            continue
        bracket = _BRACKET.match(text, offset) if char == "[" else None
        quoted = _QUOTED.match(text, offset) if char == '"' else None
        match = bracket or quoted or _UNQUOTED.match(text, offset)
        if bracket is not None:
            edge = len(bracket.group(1)) + 2
            arguments.append(bracket.group()[edge:-edge])
        elif quoted is not None:
            arguments.append(quoted.group(1))
        else:
            arguments.append(match.group() if match else char)
        offset = match.end() if match else offset + 1
    return tuple(arguments), offset, False


reader = ManifestReader(__name__, is_cmake, read)
