"""Positions in the bytes of a file: lines, columns in characters, and the newline style."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]+")


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates by `?`, so that the text can be encoded. The length stays the same."""
    return text if text.isascii() else _SURROGATE.sub("?", text)


def one_line(text: str) -> str:
    """The text as a single line, safe inside a comment."""
    return " ".join(_UNPRINTABLE.sub(" ", text).split())


@dataclass(frozen=True)
class Text:
    """The bytes of a file with a line index. Never decoded as a whole, so that invalid bytes survive."""

    data: bytes

    @cached_property
    def _line_starts(self) -> list[int]:
        starts, newline_offset = [0], self.data.find(b"\n")
        while newline_offset >= 0:
            starts.append(newline_offset + 1)
            newline_offset = self.data.find(b"\n", newline_offset + 1)
        return starts

    def line_of(self, offset: int) -> int:
        """The 1-based line of a byte offset."""
        return bisect_right(self._line_starts, offset)

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column (in characters) of a byte offset."""
        line = self.line_of(offset)
        start, column = self._last_position.get(line, (self._line_starts[line - 1], 1))
        # A minified file may be one line, so counting continues at the previous position; never inside a character.
        if start > offset or b"\x80" <= self.data[start : start + 1] < b"\xc0":
            start, column = self._line_starts[line - 1], 1
        column += len(self.data[start:offset].decode("utf-8", "replace"))
        self._last_position[line] = offset, column
        return line, column

    @cached_property
    def _last_position(self) -> dict[int, tuple[int, int]]:
        """By line: offset and column of the last call."""
        return {}

    @cached_property
    def newline(self) -> bytes:
        """The most frequent line ending of the file."""
        return b"\r\n" if self.data.count(b"\r\n") * 2 > self.data.count(b"\n") else b"\n"
