"""Preprocessor directives of a C++ file, found as a compiler finds them.

Comments, strings, raw strings and spliced lines are blanked first, so that `#if` in any of them is no directive.
Written by hand because directives must be found in text that does not parse: see docs/decisions/0003.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    rb"""
      (?P<splice>\\\r?\n)
    | (?P<raw>\b(?:u8|[uUL])?R"(?P<delimiter>[^\s()\\]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z))
    | (?P<comment>/(?:\\\r?\n)*\*.*?(?:\*(?:\\\r?\n)*/|\Z)|/(?:\\\r?\n)*/[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*)
    | (?P<string>"[^"\\\n]*(?:\\(?:\r\n|.)[^"\\\n]*)*"?|'[^'\\\n]*(?:\\(?:\r\n|.)[^'\\\n]*)*'?)
    | (?P<word>\.?[0-9](?:'?[0-9A-Za-z_.])*|[A-Za-z_][A-Za-z0-9_]*)
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(rb"[ \t\f\v]*#[ \t\f\v]*([a-z_]+)?(.*)", re.DOTALL)
# Every detector asks about the same file in turn; each entry is as large as its file.
_REMEMBERED = 4
_SPLICE = re.compile(rb"\\\r?\n")
_MARK = b"\xef\xbb\xbf"  # a byte order mark stands before the first line, not in it
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
    return _blanked(data)[0]


@lru_cache(maxsize=_REMEMBERED)
def _blanked(data: bytes) -> tuple[bytes, bytes]:
    """Without all of these, and with strings and splices still there."""
    blank, shown = bytearray(data), bytearray(data)
    for match in _TOKEN.finditer(data):
        kind, start, end = match.lastgroup, match.start(), match.end()
        if kind == "word":
            continue
        # A line comment ends before its newline; the other kinds swallow theirs and so join lines.
        blank[start:end] = b" " * (end - start)
        if kind in ("raw", "comment"):
            shown[start:end] = b" " * (end - start)
    return bytes(blank), bytes(shown)


def closed(data: bytes) -> bytes:
    """The same with its last comment closed, where the file ends inside of one.

    The parser would look for that end from every `/*` on the way, and from each of them anew.
    """
    start = data.rfind(b"/*")
    if start < 0 or data.find(b"*/", start + 2) >= 0:
        return data
    *_, last = (b"", *(match.group() for match in _TOKEN.finditer(data)))
    is_closed = len(last) > 3 and last.endswith(b"*/")  # not so `/*/`
    return data + b"*/" if last.startswith(b"/*") and not is_closed else data


def directives(data: bytes) -> list[Directive]:
    """Every directive, in order."""
    return list(_directives(data))


@lru_cache(maxsize=_REMEMBERED)
def _directives(data: bytes) -> tuple[Directive, ...]:
    found: list[Directive] = []
    blank, shown = _blanked(data)
    start = len(_MARK) if data.startswith(_MARK) else 0
    while start < len(blank):
        newline = blank.find(b"\n", start)
        end = len(blank) if newline < 0 else newline + 1
        # Strings are part of a condition (`__has_include("x.h")`); a splice may cut even the keyword.
        match = _DIRECTIVE.match(_SPLICE.sub(b"", shown[start:end])) if b"#" in blank[start:end] else None
        if match is not None:
            keyword = (match.group(1) or b"").decode()
            found.append(Directive(keyword, match.group(2).decode("utf-8", "replace").strip(), start, end))
        start = end
    return tuple(found)
