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
    from rocm3d.model.compilation import Diagnostic
    from rocm3d.verify.compilation.translation import Translation


@dataclass(frozen=True)
class Problem:
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
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part)
        name = f"{self.code} {self.rule}: " if self.code else ""
        return f"{place}: {name}{self.message}" if place else f"{name}{self.message}"


@dataclass(frozen=True)
class Codes:
    """Finding codes with patterns for compiler errors, in the order of codes.toml."""

    patterns: tuple[tuple[Code, re.Pattern[str]], ...]

    @classmethod
    def of(cls, codes: Mapping[str, Code]) -> Codes:
        """From all codes that have error patterns."""
        return cls(tuple((code, re.compile(text)) for code in codes.values() for text in code.errors))

    @property
    def digest(self) -> str:
        """Part of the cache key: the patterns influence compile results."""
        return hashlib.sha256("\0".join(pattern.pattern for _, pattern in self.patterns).encode()).hexdigest()

    def find(self, text: str) -> Code | None:
        """The first code that matches. `text` is the message, the source line and the notes, one per line."""
        return next((code for code, pattern in self.patterns if pattern.search(text)), None)


def problems(errors: Iterable[Diagnostic], translation: Translation, codes: Codes) -> tuple[Problem, ...]:
    """Each error once per line. An error inside a library is reported where the repository uses it."""
    found: dict[tuple[str, int, str], Problem] = {}
    for error in errors:
        problem = _problem(error, translation, codes)
        found.setdefault((problem.path, problem.line, problem.message), problem)
    return tuple(sorted(found.values(), key=lambda item: (item.path, item.line, item.column, item.message)))


def _problem(error: Diagnostic, translation: Translation, codes: Codes) -> Problem:
    own = translation.place(error.path, error.line) if error.path else None
    # The instantiation comes before the include that brought the template: only the first error names the include.
    remarks = sorted(error.remarks, key=lambda remark: remark.message == INCLUDED)
    asked = [place for remark in remarks if (place := translation.place(remark.path, remark.line))]
    place = own or next(iter(asked), None) or ("", 0)
    others = dict.fromkeys(f"{path}:{line}" for path, line in asked if (path, line) != place)
    notes = "\n".join(remark.message for remark in error.remarks)
    code = codes.find(f"{error.message}\n{translation.text(*place)}\n{notes}")
    return Problem(
        path=place[0],
        line=place[1],
        column=error.column if own else 0,
        message=error.message,
        code=code.code if code else "",
        rule=code.rule if code else "",
        also=tuple(others),
    )
