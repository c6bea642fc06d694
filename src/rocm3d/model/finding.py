"""A finding: code in a repository that needs attention on an AMD GPU."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.location import Location

Severity = Literal["error", "warning", "note"]
"""error: will not build or run on AMD; warning: may be wrong or slow; note: for information, needs no change."""


class Finding(Record):
    """A diagnostic at a source location. The text comes from its rule."""

    code: str
    rule: str
    severity: Severity
    path: str
    line: int = Field(ge=1)
    column: int = Field(ge=1)
    message: str
    hint: str
    family: str | None = None
    package: str | None = None
    recipe: str | None = None

    @property
    def is_dependency(self) -> bool:
        """Whether it is about an installed package and not about source code."""
        return self.code.startswith("DEP")

    @property
    def location(self) -> Location:
        """Path, line and column as one value."""
        return Location(path=self.path, line=self.line, column=self.column)
