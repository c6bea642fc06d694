"""Requirements files within bounds: pip's grammar takes the square of a line's length in time, and a good part of a
millisecond for a line that is none of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_MAX_CHARACTERS = 1_000_000
_MAX_LINES = 5_000  # that say something: comments and blanks are free
_LONGEST = 20_000  # of one line with all its continuations: room for two hundred hashes
_BLANKS = re.compile(r"[ \t]{64,}")


def bounded(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with what is beyond the bounds blanked, line for line, and what that was."""
    if len(text) > _MAX_CHARACTERS:
        return "", [(1, "is too large to be read as a requirements file")]
    kept: list[str] = []
    unread: list[tuple[int, str]] = []
    said = 0
    for lines in _logical(_BLANKS.sub(" ", text).splitlines(keepends=True)):
        joined = "".join(line.rstrip("\r\n").rstrip("\\") for line in lines)
        said += bool(joined.strip()) and not joined.lstrip().startswith("#")
        too_long = len(joined) > _LONGEST or _BLANKS.search(joined) is not None
        if said > _MAX_LINES:
            unread.append((len(kept) + 1, f"comes after {_MAX_LINES} requirements; the rest was not read"))
            break
        if too_long:
            unread.append((len(kept) + 1, "is too long to be read as a requirement"))
        kept += ["\n"] * len(lines) if too_long else lines
    return "".join(kept), unread


def _logical(lines: list[str]) -> Iterator[list[str]]:
    """Lines that backslashes hold together."""
    together: list[str] = []
    for line in lines:
        together.append(line)
        if not line.rstrip("\r\n").endswith("\\"):
            yield together
            together = []
    if together:
        yield together
