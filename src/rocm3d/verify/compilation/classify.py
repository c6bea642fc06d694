"""Maps compiler errors to positions in the repository and to the finding codes that explain them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.verify.compilation.diagnostics import INCLUDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocm3d.model.code import Code
    from rocm3d.model.verdict import Diagnostic
    from rocm3d.verify.compilation.source_map import HipifySourceMap


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
    return tuple(sorted(by_position.values(), key=lambda item: (item.path, item.line, item.column, item.message)))


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
