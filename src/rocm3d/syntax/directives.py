"""Preprocessor directives of a C++ file, found as a compiler finds them.

Comments, strings, raw strings and spliced lines are blanked first, so that `#if` in any of them is no directive.
Written by hand because directives must be found in text that does not parse: see docs/decisions/0003.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    rb"""
      (?P<splice>\\\r?\n)
    | (?P<raw>\b(?:u8|[uUL])?R"(?P<delimiter>[^\s()\\]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z))
    | (?P<comment>/\*.*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*)
    | (?P<string>"(?:\\\r\n|\\.|[^"\\\n])*"?|'(?:\\\r\n|\\.|[^'\\\n])*'?)
    | (?P<word>\.?[0-9](?:'?[0-9A-Za-z_.])*|[A-Za-z_][A-Za-z0-9_]*)
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(rb"[ \t\f\v]*#[ \t\f\v]*([a-z_]+)?(.*)", re.DOTALL)
CONDITIONAL = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"})


@dataclass(frozen=True)
class Directive:
    """One directive: its keyword, its argument with comments blanked, and its bytes [start, end) with the newline."""

    keyword: str
    argument: str
    start: int
    end: int


def blanked(data: bytes) -> bytes:
    """The same length, with comments, string contents and line splices turned into spaces."""
    out = bytearray(data)
    for match in _TOKEN.finditer(data):
        if match.lastgroup != "word" and match.group("word") is None:
            # A line comment ends before its newline; the other kinds swallow theirs and so join lines.
            out[match.start() : match.end()] = b" " * (match.end() - match.start())
    return bytes(out)


def directives(data: bytes) -> list[Directive]:
    """Every directive, in order."""
    found: list[Directive] = []
    blank, start = blanked(data), 0
    while start < len(blank):
        newline = blank.find(b"\n", start)
        end = len(blank) if newline < 0 else newline + 1
        match = _DIRECTIVE.match(blank, start, end)
        if match is not None:
            keyword = (match.group(1) or b"").decode()
            found.append(Directive(keyword, match.group(2).decode("utf-8", "replace").strip(), start, end))
        start = end
    return found
