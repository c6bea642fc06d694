"""Maps files and lines that hipify wrote back to the original sources."""

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
    """`tree`: the hipified copy. `originals` maps each file that hipify wrote to its source."""

    tree: Path
    originals: Mapping[str, str]
    _lines: dict[str, list[int]] = field(default_factory=dict)

    def inside(self, path: str) -> str | None:
        """The path of a compiler message relative to the repository; None if it is outside."""
        whole = Path(posixpath.normpath(posixpath.join(str(self.tree), path)))
        return whole.relative_to(self.tree).as_posix() if whole.is_relative_to(self.tree) else None

    def place(self, path: str, line: int) -> tuple[str, int] | None:
        """File and line in the original repository; None for a position outside."""
        here = self.inside(path)
        if here is None:
            return None
        original = self.originals.get(here, here)
        if original == here:
            return here, line
        lines = self._line_map(here, original)
        return original, lines[min(line, len(lines)) - 1] if lines else 1

    def text(self, path: str, line: int) -> str:
        """A line of an original file, stripped; empty if there is no such line."""
        lines = _read(self.tree / path)
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def _line_map(self, made: str, original: str) -> list[int]:
        if made not in self._lines:
            self._lines[made] = line_map(_read(self.tree / made), _read(self.tree / original))
        return self._lines[made]


def line_map(made: list[str], original: list[str]) -> list[int]:
    """For each line of the hipified text the 1-based line of the original."""
    found: list[int] = []
    for kind, start, end, first, last in SequenceMatcher(None, made, original).get_opcodes():
        if kind == "equal":
            found += range(first + 1, last + 1)
            continue
        count, there = end - start, last - first
        # A changed block: proportionally, which is line by line if both have the same length.
        found += (
            min(max(first + (at * there // count if count else 0), 0), len(original) - 1) + 1 for at in range(count)
        )
    return found


def _read(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
