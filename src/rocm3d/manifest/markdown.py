"""README*.md, INSTALL*.md and docs/*.md: install lines of their fenced code blocks. Executes nothing.

People follow these lines by hand, so they are worth a note; nothing reads them by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from rocm3d.manifest.install_line import Word, shell_commands
from rocm3d.manifest.manifest import Manifest, Reader
from rocm3d.manifest.script import manifest_of

SECTION = "documentation"
_NAME = re.compile(r"(readme|install).*\.(md|markdown)$", re.IGNORECASE)
_FENCE = re.compile(r"[ \t>]*(?P<fence>`{3,}|~{3,})[ \t]*\{?\.?(?P<language>[\w+-]*)")
_SHELLS = frozenset({"", "bash", "sh", "shell", "zsh", "console", "terminal", "cmd", "text", "shellscript"})
_PROMPT = re.compile(r"^([ \t]*)([!%$>])(?=[ \t]*\w)")


def is_documentation(path: str) -> bool:
    """Whether a path is a page that tells how to install."""
    pure = PurePosixPath(path)
    below_docs = any(part.lower() in ("doc", "docs") for part in pure.parts[:-1])
    return bool(_NAME.match(pure.name)) or (below_docs and pure.suffix.lower() in (".md", ".markdown"))


def read(path: str, data: bytes) -> Manifest:
    """Only install lines: all else in a page is prose."""
    return manifest_of(path, reader.kind, data, _commands(data.decode("utf-8", "replace")), section=SECTION)


def _commands(text: str) -> Iterator[tuple[Word, ...]]:
    for line, block in blocks(text):
        yield from shell_commands(block, line)


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Each fenced block of shell text with the number of its first line; prompts become spaces."""
    fence, first, shell = "", 0, False
    inside: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        match = _FENCE.match(line)
        if fence and match and match["fence"].startswith(fence) and not match["language"]:
            if shell:
                yield first, "\n".join(inside)
            fence = ""
        elif fence:
            inside.append(_PROMPT.sub(r"\1 ", line))
        elif match:
            fence, first, inside = match["fence"], number + 1, []
            shell = match["language"].lower() in _SHELLS
    if fence and shell:
        yield first, "\n".join(inside)


reader = Reader(__name__, is_documentation, read)
