"""Many repositories and the libraries that block them on AMD GPUs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.inventory import Readiness

LibraryState = Literal["proven", "works", "work", "blocked", "named"]


class MatrixColumn(Record):
    """One repository. `planned` is the GPU of its plan; empty if there is only an inventory."""

    repository: str
    readiness: Readiness
    planned: str = ""


class MatrixRow(Record):
    """One library: its state in each repository that depends on it."""

    package: str
    family: str
    states: dict[str, LibraryState]

    @property
    def waiting(self) -> tuple[str, ...]:
        """Repositories in which it still needs work."""
        return tuple(name for name, state in self.states.items() if state in ("work", "blocked", "named"))


class UnlockStep(Record):
    """One step of the suggested order: repositories that are unblocked once this and all earlier libraries work."""

    package: str
    frees: tuple[str, ...]
    waiting: int = Field(description="number of repositories in which it needs work")


class Matrix(Document):
    """The result of `rocm3d matrix`."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...] = Field(description="sorted by the number of waiting repositories, largest first")
    order: tuple[UnlockStep, ...]
    free: tuple[str, ...] = Field(description="repositories that no library blocks")
