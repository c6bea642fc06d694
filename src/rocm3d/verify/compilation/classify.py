"""Maps errors in files that hipify wrote to positions in the repository and to the finding codes that explain them."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from rocm3d.model.code import Code
from rocm3d.model.verdict import Diagnostic
from rocm3d.verify.compilation.diagnostics import INCLUDED


@dataclass(frozen=True)
class CompileProblem:
    """An error at a position of the repository. `also`: further positions that the compiler names for it."""

    path: str
    line: int
    column: int
    message: str
    code: str = ""
    rule: str = ""
    also: tuple[str, ...] = ()

    def __str__(self) -> str:
        """In the format of findings."""
        position = ":".join(str(part) for part in (self.path, self.line, self.column) if part)
        name = f"{self.code} {self.rule}: " if self.code else ""
        return f"{position}: {name}{self.message}" if position else f"{name}{self.message}"


@dataclass(frozen=True)
class ErrorCodes:
    """Finding codes with patterns for compiler errors, in the order of the codes."""

    patterns: tuple[tuple[Code, re.Pattern[str]], ...]

    @classmethod
    def of(cls, codes: Mapping[str, Code]) -> ErrorCodes:
        """From all codes that have error patterns."""
        return cls(tuple((code, re.compile(text)) for code in codes.values() for text in code.errors))

    @property
    def digest(self) -> str:
        """Part of the cache key: the patterns influence compile results."""
        return hashlib.sha256("\0".join(pattern.pattern for _, pattern in self.patterns).encode()).hexdigest()

    def find(self, text: str) -> Code | None:
        """The first code that matches. `text` is the message, the source line and the notes, one per line."""
        return next((code for code, pattern in self.patterns if pattern.search(text)), None)


def classify_errors(
    errors: Iterable[Diagnostic], translation: HipifySourceMap, codes: ErrorCodes
) -> tuple[CompileProblem, ...]:
    """Each error once per line. An error inside a library is reported where the repository uses it."""
    by_position: dict[tuple[str, int, str], CompileProblem] = {}
    for error in errors:
        problem = _classify(error, translation, codes)
        by_position.setdefault((problem.path, problem.line, problem.message), problem)
    return tuple(sorted(by_position.values(), key=position_key))


def position_key(problem: CompileProblem) -> tuple[str, int, int, str]:
    """The order of problems in reports."""
    return (problem.path, problem.line, problem.column, problem.message)


def _classify(error: Diagnostic, translation: HipifySourceMap, codes: ErrorCodes) -> CompileProblem:
    own_position = translation.original_position(error.path, error.line) if error.path else None
    # The instantiation comes before the include that brought the template: only the first error names the include.
    remarks = sorted(error.remarks, key=lambda remark: remark.message == INCLUDED)
    note_positions = [
        position for remark in remarks if (position := translation.original_position(remark.path, remark.line))
    ]
    position = own_position or next(iter(note_positions), None) or ("", 0)
    others = dict.fromkeys(f"{path}:{line}" for path, line in note_positions if (path, line) != position)
    notes = "\n".join(remark.message for remark in error.remarks)
    code = codes.find(f"{error.message}\n{translation.text(*position)}\n{notes}")
    return CompileProblem(
        path=position[0],
        line=position[1],
        column=error.column if own_position else 0,
        message=error.message,
        code=code.code if code else "",
        rule=code.rule if code else "",
        also=tuple(others),
    )


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
