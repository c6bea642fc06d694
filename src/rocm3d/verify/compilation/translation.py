"""The way back from what hipify wrote: which original a file is of, and which line a line was."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class Translation:
    """`tree` is the copy that was translated; `originals` names for each written file the one it was made of."""

    tree: Path
    originals: Mapping[str, str]
    _lines: dict[str, list[int]] = field(default_factory=dict)

    def inside(self, path: str) -> str | None:
        """A path of a message relative to the repository, or None for one that lies outside."""
        whole = Path(posixpath.normpath(posixpath.join(str(self.tree), path)))
        return whole.relative_to(self.tree).as_posix() if whole.is_relative_to(self.tree) else None

    def place(self, path: str, line: int) -> tuple[str, int] | None:
        """File and line in the repository as it was; None for a place outside of it."""
        here = self.inside(path)
        if here is None:
            return None
        original = self.originals.get(here, here)
        if original == here:
            return here, line
        lines = self._line_map(here, original)
        return original, lines[min(line, len(lines)) - 1] if lines else 1

    def text(self, path: str, line: int) -> str:
        """A line of an original file."""
        lines = _read(self.tree / path)
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def _line_map(self, made: str, original: str) -> list[int]:
        if made not in self._lines:
            self._lines[made] = line_map(_read(self.tree / made), _read(self.tree / original))
        return self._lines[made]


def line_map(made: list[str], original: list[str]) -> list[int]:
    """For each line of the written text the line of the original, from one on."""
    found: list[int] = []
    for kind, start, end, first, last in SequenceMatcher(None, made, original).get_opcodes():
        if kind == "equal":
            found += range(first + 1, last + 1)
            continue
        count, there = end - start, last - first
        # A changed run: line by line where both have as many, else by the share.
        found += (
            min(max(first + (at * there // count if count else 0), 0), len(original) - 1) + 1 for at in range(count)
        )
    return found


def _read(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
