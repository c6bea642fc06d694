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
class HipifySourceMap:
    """`tree`: the hipified copy. `originals` maps each file that hipify wrote to its source."""

    tree: Path
    originals: Mapping[str, str]
    _lines: dict[str, list[int]] = field(default_factory=dict)

    def relative_path(self, path: str) -> str | None:
        """The path of a compiler message relative to the repository; None if it is outside."""
        absolute = Path(posixpath.normpath(posixpath.join(str(self.tree), path)))
        return absolute.relative_to(self.tree).as_posix() if absolute.is_relative_to(self.tree) else None

    def original_position(self, path: str, line: int) -> tuple[str, int] | None:
        """File and line in the original repository; None for a position outside."""
        relative = self.relative_path(path)
        if relative is None:
            return None
        original = self.originals.get(relative, relative)
        if original == relative:
            return relative, line
        lines = self._line_map(relative, original)
        return original, lines[min(line, len(lines)) - 1] if lines else 1

    def text(self, path: str, line: int) -> str:
        """A line of an original file, stripped; empty if there is no such line."""
        lines = _read(self.tree / path)
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def _line_map(self, hip_file: str, original: str) -> list[int]:
        if hip_file not in self._lines:
            self._lines[hip_file] = line_map(_read(self.tree / hip_file), _read(self.tree / original))
        return self._lines[hip_file]


def line_map(hipified: list[str], original: list[str]) -> list[int]:
    """For each line of the hipified text the 1-based line of the original."""
    lines: list[int] = []
    for kind, start, end, first, last in SequenceMatcher(None, hipified, original).get_opcodes():
        if kind == "equal":
            lines += range(first + 1, last + 1)
            continue
        count, original_count = end - start, last - first
        # A changed block: proportionally, which is line by line if both have the same length.
        lines += (
            min(max(first + (index * original_count // count if count else 0), 0), len(original) - 1) + 1
            for index in range(count)
        )
    return lines


def _read(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
