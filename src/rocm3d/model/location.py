"""A place in a target repository."""

from __future__ import annotations

from pydantic import Field

from rocm3d.model.base import Record


class Location(Record):
    """Relative POSIX path, and the 1-based line and column of a character."""

    path: str
    line: int = Field(ge=1)
    column: int = Field(ge=1)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"
