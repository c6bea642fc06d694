"""A package whose default install assumes NVIDIA, and every known way to satisfy it on ROCm."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field, model_validator

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Gfx, Identifier, Range, Status

Decision = Literal["keep", "drop", "replace", "build", "substitute", "stub", "blocked"]


class Route(Fact):
    """One way to satisfy a package. It fits where all its ranges hold; an empty range or list means any."""

    id: Identifier
    decision: Decision
    summary: str
    rank: int = Field(ge=1, description="1 is tried first")
    rocm: Range = ""
    torch: Range = ""
    python: Range = ""
    gfx: tuple[Gfx, ...] = ()
    products: tuple[Identifier, ...] = ()
    requirement: str = ""
    index: str = ""
    commands: tuple[tuple[str, ...], ...] = ()
    env: dict[str, str] = Field(default={})
    moves: dict[str, str] = Field(
        default={}, description="what the install puts in place of what was there: name, version"
    )
    import_kept: bool = True
    proof: str = ""
    traps: tuple[str, ...] = ()
    verified_on: tuple[str, ...] = ()
    since: date | None = Field(default=None, description="when it became known; left out: as long as we know")
    until: date | None = Field(default=None, description="when it stopped holding; with status refuted")
    status: Status = "active"

    @model_validator(mode="after")
    def _says_what_proves_it(self) -> Route:
        if self.decision in ("replace", "build", "substitute") and not self.proof:
            raise ValueError(f"route {self.id!r} puts code in place and so needs a proof of the real backend")
        return self


class Licence(Record):
    """Terms worth knowing before porting; `wording` is how to speak of it in reports."""

    name: str
    note: str = ""
    wording: str = ""


class Package(Fact):
    """A file of knowledge/packages/."""

    id: Identifier
    pip: tuple[str, ...] = Field(description="distribution names; `*` stands for anything, as in nvidia-*-cu12")
    imports: tuple[str, ...] = ()
    family: Identifier
    purpose: str
    licence: Licence | None = None
    traps: tuple[str, ...] = ()
    routes: tuple[Route, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _routes_differ(self) -> Package:
        ids = [route.id for route in self.routes]
        if len(set(ids)) != len(ids):
            raise ValueError("two routes have the same id")
        return self
