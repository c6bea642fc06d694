"""CMake files: every command with its arguments and position. Nothing is run."""

from __future__ import annotations

import re

from rocm3d.manifest.manifest import Command, Manifest, Reader, pure

_BRACKET = re.compile(r"\[(=*)\[.*?(?:\]\1\]|\Z)", re.DOTALL)
_COMMENT = re.compile(r"#(?!\[=*\[)[^\n]*")
_NAME = re.compile(r"[A-Za-z_]\w*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)(?:"|\Z)', re.DOTALL)
_PLAIN = re.compile(r'(?:[^\s()#"\\]|\\.|"(?:[^"\\]|\\.)*")+', re.DOTALL)
_SPACE = re.compile(r"\s+")


def is_cmake(path: str) -> bool:
    parts = pure(path)
    return parts.name == "CMakeLists.txt" or parts.suffix.lower() == ".cmake"


def read(path: str, data: bytes) -> Manifest:
    """All commands in order, with lower-case names. Parentheses inside a call are arguments."""
    text = data.decode("utf-8", "replace")
    commands: list[Command] = []
    unread: list[tuple[int, str]] = []
    at, line, start = 0, 1, 0
    while at < len(text):
        skipped = _skip(text, at)
        name = None if skipped > at else _NAME.match(text, at)
        end = skipped
        if name is not None:
            opening = _skip(text, name.end())
            if text[opening : opening + 1] == "(":
                arguments, end, closed = _arguments(text, opening + 1)
                commands.append(Command(name.group().lower(), arguments, line, at - start + 1))
                if not closed:
                    unread.append((line, f"{name.group()}( has no closing parenthesis"))
            else:
                end = name.end()
        elif end == at:
            end = at + 1
        line, last = line + text.count("\n", at, end), text.rfind("\n", at, end)
        start, at = (last + 1 if last >= 0 else start), end
    return Manifest(path, reader.kind, data, commands=tuple(commands), unread=tuple(unread))


def _skip(text: str, at: int) -> int:
    """The offset after spaces and comments."""
    while at < len(text):
        match = _SPACE.match(text, at) or _COMMENT.match(text, at)
        if match is None and text[at] == "#":
            match = _BRACKET.match(text, at + 1)
        if match is None:
            break
        at = match.end()
    return at


def _arguments(text: str, at: int) -> tuple[tuple[str, ...], int, bool]:
    """The arguments, the offset after the closing parenthesis, and whether there is one."""
    found: list[str] = []
    depth = 0
    while (at := _skip(text, at)) < len(text):
        char = text[at]
        if char == ")" and depth == 0:
            return tuple(found), at + 1, True
        if char in "()":
            depth += 1 if char == "(" else -1
            found.append(char)
            at += 1
            continue
        bracket = _BRACKET.match(text, at) if char == "[" else None
        quoted = _QUOTED.match(text, at) if char == '"' else None
        match = bracket or quoted or _PLAIN.match(text, at)
        if bracket is not None:
            edge = len(bracket.group(1)) + 2
            found.append(bracket.group()[edge:-edge])
        elif quoted is not None:
            found.append(quoted.group(1))
        else:
            found.append(match.group() if match else char)
        at = match.end() if match else at + 1
    return tuple(found), at, False


reader = Reader(__name__, is_cmake, read)
