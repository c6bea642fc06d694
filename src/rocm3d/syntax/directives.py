"""Preprocessor directives of a C++ file, found as a compiler finds them.

Comments, strings, raw strings and line splices are blanked first, so that `#if` inside them is ignored.
Hand-written because directives must also be found in text that does not parse: see docs/decisions/0003.
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
# All detectors read one file in turn, and each entry is as large as its file.
_CACHE_SIZE = 4
_SPLICE = re.compile(rb"\\\r?\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # UTF-8 byte order mark
CONDITIONAL = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"})


@dataclass(frozen=True)
class Directive:
    """One directive: keyword, argument without comments, and byte range [start, end) including the newline."""

    keyword: str
    argument: str
    start: int
    end: int

    @property
    def opens(self) -> bool:
        """Whether it opens a conditional chain."""
        return self.keyword in ("if", "ifdef", "ifndef")


def blanked(data: bytes) -> bytes:
    """The text with comments, strings and line splices replaced by spaces; the length stays the same."""
    return _blanked_versions(data)[0]


@lru_cache(maxsize=_CACHE_SIZE)
def _blanked_versions(data: bytes) -> tuple[bytes, bytes]:
    """The fully blanked text, and the text with only comments and raw strings blanked."""
    fully_blanked, without_comments = bytearray(data), bytearray(data)
    for match in _TOKEN.finditer(data):
        kind, start, end = match.lastgroup, match.start(), match.end()
        if kind == "word":
            continue
        # A line comment ends before its newline; the other kinds include newlines and so join lines.
        fully_blanked[start:end] = b" " * (end - start)
        if kind in ("raw", "comment"):
            without_comments[start:end] = b" " * (end - start)
    return bytes(fully_blanked), bytes(without_comments)


def with_closed_comment(data: bytes) -> bytes:
    """The text with `*/` appended if it ends inside a comment.

    Without it the parser searches for the end of the comment from every `/*`, in quadratic time.
    """
    start = data.rfind(b"/*")
    if start < 0 or data.find(b"*/", start + 2) >= 0:
        return data
    *_, last = (b"", *(match.group() for match in _TOKEN.finditer(data)))
    is_closed = len(last) > 3 and last.endswith(b"*/")  # `/*/` is not closed
    return data + b"*/" if last.startswith(b"/*") and not is_closed else data


def directives(data: bytes) -> list[Directive]:
    return list(_directives(data))


@lru_cache(maxsize=_CACHE_SIZE)
def _directives(data: bytes) -> tuple[Directive, ...]:
    found_directives: list[Directive] = []
    fully_blanked, without_comments = _blanked_versions(data)
    start = len(_BYTE_ORDER_MARK) if data.startswith(_BYTE_ORDER_MARK) else 0
    while start < len(fully_blanked):
        newline = fully_blanked.find(b"\n", start)
        end = len(fully_blanked) if newline < 0 else newline + 1
        # Strings can be part of a condition (`__has_include("x.h")`); a splice can split even the keyword.
        match = (
            _DIRECTIVE.match(_SPLICE.sub(b"", without_comments[start:end]))
            if b"#" in fully_blanked[start:end]
            else None
        )
        if match is not None:
            keyword = (match.group(1) or b"").decode()
            found_directives.append(Directive(keyword, match.group(2).decode("utf-8", "replace").strip(), start, end))
        start = end
    return tuple(found_directives)
