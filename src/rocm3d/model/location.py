"""A position in a file of the repository."""

from __future__ import annotations

from pydantic import Field

from rocm3d.model.base import Record


class Location(Record):
    """Relative POSIX path, 1-based line, and 1-based column in characters."""

    path: str
    line: int = Field(ge=1)
    column: int = Field(ge=1)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"
