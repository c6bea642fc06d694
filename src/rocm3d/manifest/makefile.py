"""Makefiles: install commands of their recipes. Make is not run: all targets count, and only literal variables do."""

from __future__ import annotations

import re

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, posix_path
from rocm3d.manifest.script import manifest_from_commands

_NAMES = frozenset({"Makefile", "makefile", "GNUmakefile"})
_LINE = re.compile(r"[^\n]*\n?")
_ASSIGNMENT = re.compile(r"(?:export[ \t]+)?(\w+)[ \t]*[:?]{0,2}=[ \t]*([\w./-]+)[ \t]*$")
_REFERENCE = re.compile(r"\$[({](\w+)[)}]")
_RECIPE_PREFIX = re.compile(r"\t[ \t@+-]*")


def is_makefile(path: str) -> bool:
    parts = posix_path(path)
    return parts.name in _NAMES or parts.suffix == ".mk"


def _read(path: str, data: bytes) -> ParsedManifest:
    text = data.decode("utf-8", "replace")
    return manifest_from_commands(path, reader.kind, data, shell_commands(_recipes(text)), section="workflow")


def _recipes(text: str) -> str:
    """The text with everything but the recipes blanked, so that positions stay the same."""
    variables: dict[str, str] = {}
    parts: list[str] = []
    is_continued = False
    for match in _LINE.finditer(text):
        line = match.group()
        if is_continued or line.startswith("\t"):
            prefix = _RECIPE_PREFIX.match(line)
            start = prefix.end() if prefix else 0
            parts.append(" " * start + _expand(line[start:], variables))
            is_continued = line.rstrip("\r\n").endswith("\\")
            continue
        if assignment := _ASSIGNMENT.match(line.rstrip()):
            variables[assignment[1]] = assignment[2]
        parts.append(re.sub(r"[^\n]", " ", line))
    return "".join(parts)


def _expand(line: str, variables: dict[str, str]) -> str:
    """References to short literals, such as `$(PIP)`, replaced without moving the words after them."""

    def value(match: re.Match[str]) -> str:
        text = variables.get(match[1], "")
        return text.ljust(len(match[0])) if text and len(text) <= len(match[0]) else match[0]

    return _REFERENCE.sub(value, line)


reader = ManifestReader(__name__, is_makefile, _read)
