"""Many repositories and the libraries that stand between them and an AMD GPU."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.inventory import Readiness

State = Literal["proven", "works", "work", "blocked", "named"]


class Column(Record):
    """One repository. `planned` says for which GPU, empty where there is only an inventory."""

    repository: str
    readiness: Readiness
    planned: str = ""


class Row(Record):
    """One library: what it is in each repository that names it."""

    package: str
    family: str
    states: dict[str, State]

    @property
    def waiting(self) -> tuple[str, ...]:
        """Repositories in which it still takes work."""
        return tuple(name for name, state in self.states.items() if state in ("work", "blocked", "named"))


class Unlock(Record):
    """One step of an order of work: what is free once this library, and all before it, need no more work."""

    package: str
    frees: tuple[str, ...]
    waiting: int = Field(description="repositories that name it and take work for it")


class Matrix(Document):
    """What `rocm3d matrix` shows: a map of dependencies, not of trophies."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = Field(description="those that the most repositories wait for first")
    order: tuple[Unlock, ...]
    free: tuple[str, ...] = Field(description="repositories that wait for no library")
