"""One thing in a repository that an AMD GPU will not take as it is."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.location import Location

Severity = Literal["error", "warning", "note"]
"""error: will not build or run there; warning: may be wrong or slow; note: worth knowing, needs no change."""


class Finding(Record):
    """A diagnostic at a place; the text comes from codes.toml."""

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
        """Whether it is about what is installed and from where, not about the program."""
        return self.code.startswith("DEP")

    @property
    def location(self) -> Location:
        """The place as one value."""
        return Location(path=self.path, line=self.line, column=self.column)
