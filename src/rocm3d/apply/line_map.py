"""Lines of a file before its edits, as lines of the edited file."""

from __future__ import annotations

import difflib
from collections.abc import Callable


def line_map(before: bytes, after: bytes) -> Callable[[int], int]:
    """The line of the edited file for a line of the original, both counted from 1; for a removed line the next one."""
    if before == after:
        return lambda line: line
    old, new = before.split(b"\n"), after.split(b"\n")
    blocks = difflib.SequenceMatcher(None, old, new).get_opcodes()

    def edited_line(line: int) -> int:
        for _, start, end, new_start, new_end in blocks:
            if start < line <= end:
                # The last line of a replaced block, if the new one is shorter.
                return min(new_start + (line - start), max(new_end, new_start + 1), len(new))
        return len(new)

    return edited_line
