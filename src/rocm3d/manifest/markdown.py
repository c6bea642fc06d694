"""Install commands in Markdown and reStructuredText documentation, changelogs excluded.

Fenced blocks are scripts; elsewhere an install command counts in backquotes or at the start of a line. People run these
commands by hand and no tool reads them, so their findings are notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm3d.manifest.install_line import Word, shell_commands
from rocm3d.manifest.manifest import Manifest, Reader, pure
from rocm3d.manifest.script import manifest_of

SECTION = "documentation"
_SUFFIXES = (".md", ".markdown", ".rst")
_CHANGES = re.compile(r"(change|history|news|release|licen[cs]e|contributors)", re.IGNORECASE)
_FENCE = re.compile(r"[ \t>]*(?P<fence>`{3,}|~{3,})[ \t]*\{?\.?(?P<language>[\w+-]*)")
_SHELLS = frozenset({"", "bash", "sh", "shell", "zsh", "console", "terminal", "cmd", "text", "shellscript"})
_PROMPT = re.compile(r"^([ \t]*)([!%$>])(?=[ \t]*\w)")
_MARKER = re.compile(r"(?:[-*+]|\d{1,3}\.)[ \t]+")
_TICKS = re.compile(r"(`+)")
_INSTALLS = re.compile(
    r"(?:[\w./-]*python[\d.]* -m )?(?:(?:uv )?pip[\d.]*|conda|mamba|mim) install |(?:uv|poetry|pdm) add "
)


def is_documentation(path: str) -> bool:
    """Whether a path is documentation that may contain install commands."""
    parts = pure(path)
    return parts.suffix.lower() in _SUFFIXES and not _CHANGES.match(parts.name)


def read(path: str, data: bytes) -> Manifest:
    """Read install commands only; the rest of a page is prose."""
    return manifest_of(path, reader.kind, data, _commands(data.decode("utf-8", "replace")), section=SECTION)


def _commands(text: str) -> Iterator[tuple[Word, ...]]:
    for line, column, block in blocks(text):
        yield from shell_commands(block, line, column)


def blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Line, column and text of each piece of shell text; prompts are replaced by spaces."""
    fence, first, shell, taken = "", 0, False, 0
    inside: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        match = _FENCE.match(line)
        if fence and match and match["fence"].startswith(fence) and not match["language"]:
            if shell:
                yield first, 1, "\n".join(inside)
            fence = ""
        elif fence:
            inside.append(_PROMPT.sub(r"\1 ", line))
        elif match and "`" not in line[match.end() :]:
            fence, first, inside = match["fence"], number + 1, []
            shell = match["language"].lower() in _SHELLS
        elif number > taken and (bare := _command(line)):
            taken = _last(lines, number)
            yield number, len(line) - len(bare) + 1, "\n".join([bare, *lines[number:taken]])
        elif number > taken and "`" in line:
            yield from ((number, column, code) for column, code in _spans(line))
    if fence and shell:
        yield first, 1, "\n".join(inside)


def _command(text: str) -> str:
    """The install command at the start of a line, after quote markers, a list marker and a prompt; else empty."""
    rest = text.lstrip(" \t>")
    marker = _MARKER.match(rest)
    rest = rest[marker.end() :] if marker else rest
    rest = rest[1:].lstrip(" \t") if rest[:1] in tuple("$!%>") else rest
    return rest if _INSTALLS.match(rest) else ""


def _spans(line: str) -> Iterator[tuple[int, str]]:
    """Column and text of install commands in backquotes."""
    opened, at = "", 0
    before = ""
    for piece in _TICKS.split(line):
        if piece.startswith("`"):
            code = _command(before) if piece == opened else ""
            if code:
                yield at - len(code) + 1, code
            opened = "" if piece == opened else opened or piece
        before = piece
        at += len(piece)


def _last(lines: list[str], number: int) -> int:
    """The last line number of a command with backslash continuations."""
    while number < len(lines) and lines[number - 1].rstrip().endswith("\\"):
        number += 1
    return number


reader = Reader(__name__, is_documentation, read)
