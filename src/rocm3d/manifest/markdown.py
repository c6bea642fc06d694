"""Install commands in Markdown and reStructuredText documentation, changelogs excluded.

Fenced blocks are scripts; elsewhere an install command counts in backquotes or at the start of a line. People run these
commands by hand and no tool reads them, so their findings are notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, posix_path
from rocm3d.manifest.script import manifest_from_commands

SECTION = "documentation"
_SUFFIXES = (".md", ".markdown", ".rst")
_EXCLUDED_NAME = re.compile(r"(change|history|news|release|licen[cs]e|contributors)", re.IGNORECASE)
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
    parts = posix_path(path)
    return parts.suffix.lower() in _SUFFIXES and not _EXCLUDED_NAME.match(parts.name)


def read(path: str, data: bytes) -> ParsedManifest:
    """Read install commands only; the rest of a page is prose."""
    blocks = shell_blocks(data.decode("utf-8", "replace"))
    commands = (command for line, column, block in blocks for command in shell_commands(block, line, column))
    return manifest_from_commands(path, reader.kind, data, commands, section=SECTION)


def shell_blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Line, column and text of each piece of shell text; prompts are replaced by spaces."""
    fence, first, is_shell, last_used_line = "", 0, False, 0
    block_lines: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        match = _FENCE.match(line)
        if fence and match and match["fence"].startswith(fence) and not match["language"]:
            if is_shell:
                yield first, 1, "\n".join(block_lines)
            fence = ""
        elif fence:
            block_lines.append(_PROMPT.sub(r"\1 ", line))
        elif match and "`" not in line[match.end() :]:
            fence, first, block_lines = match["fence"], number + 1, []
            is_shell = match["language"].lower() in _SHELLS
        elif number > last_used_line and (command := _install_command(line)):
            last_used_line = _last_continued_line(lines, number)
            yield number, len(line) - len(command) + 1, "\n".join([command, *lines[number:last_used_line]])
        elif number > last_used_line and "`" in line:
            yield from ((number, column, code) for column, code in _inline_commands(line))
    if fence and is_shell:
        yield first, 1, "\n".join(block_lines)


def _install_command(text: str) -> str:
    """The install command at the start of a line, after quote markers, a list marker and a prompt; else empty."""
    remaining = text.lstrip(" \t>")
    marker = _MARKER.match(remaining)
    remaining = remaining[marker.end() :] if marker else remaining
    remaining = remaining[1:].lstrip(" \t") if remaining[:1] in tuple("$!%>") else remaining
    return remaining if _INSTALLS.match(remaining) else ""


def _inline_commands(line: str) -> Iterator[tuple[int, str]]:
    """Column and text of install commands in backquotes."""
    opened, offset = "", 0
    before = ""
    for piece in _TICKS.split(line):
        if piece.startswith("`"):
            code = _install_command(before) if piece == opened else ""
            if code:
                yield offset - len(code) + 1, code
            opened = "" if piece == opened else opened or piece
        before = piece
        offset += len(piece)


def _last_continued_line(lines: list[str], number: int) -> int:
    """The last line number of a command with backslash continuations."""
    while number < len(lines) and lines[number - 1].rstrip().endswith("\\"):
        number += 1
    return number


reader = ManifestReader(__name__, is_documentation, read)
