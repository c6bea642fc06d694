"""Size limits for requirements files.

pip's parser takes quadratic time in the length of a line, and almost a millisecond for each line that it rejects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_MAX_CHARACTERS = 1_000_000
_MAX_LINES = 5_000  # without comments and blank lines
_MAX_LINE_LENGTH = 20_000  # characters of one line with its continuations, enough for 200 hashes
_BLANKS = re.compile(r"[ \t]{64,}")


def limit_requirements(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with lines beyond the limits blanked, and (line, reason) for each of them."""
    if len(text) > _MAX_CHARACTERS:
        return "", [(1, "is too large to be read as a requirements file")]
    retained: list[str] = []
    unread: list[tuple[int, str]] = []
    requirement_count = 0
    for lines in _logical_lines(_BLANKS.sub(" ", text).splitlines(keepends=True)):
        joined = "".join(line.rstrip("\r\n").rstrip("\\") for line in lines)
        requirement_count += bool(joined.strip()) and not joined.lstrip().startswith("#")
        too_long = len(joined) > _MAX_LINE_LENGTH or _BLANKS.search(joined) is not None
        if requirement_count > _MAX_LINES:
            unread.append((len(retained) + 1, f"exceeds the limit of {_MAX_LINES} requirements; the rest was not read"))
            break
        if too_long:
            unread.append((len(retained) + 1, "is too long to be read as a requirement"))
        retained += ["\n"] * len(lines) if too_long else lines
    return "".join(retained), unread


def _logical_lines(lines: list[str]) -> Iterator[list[str]]:
    """Groups of physical lines that form one line with backslash continuations."""
    group: list[str] = []
    for line in lines:
        group.append(line)
        if not line.rstrip("\r\n").endswith("\\"):
            yield group
            group = []
    if group:
        yield group
