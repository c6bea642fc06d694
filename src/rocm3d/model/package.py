"""A package whose default install assumes NVIDIA, and every known way to satisfy it on ROCm."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field, model_validator

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Gfx, Identifier, Range, Status
from rocm3d.model.suite import ProbeName

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
    needs: dict[str, Range] = Field(
        default={}, description="versions of other distributions it takes; two routes of one plan must agree"
    )
    loses: str = Field(default="", description="what the program goes without on this route; named first in a plan")
    import_kept: bool = True
    unless_imported: bool = Field(
        default=False, description="holds only where the program itself does not import the package at its top"
    )
    proof: str = ""
    fallback: bool = Field(default=False, description="the slow path is what this route means to run")
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
    restrictive: bool = Field(default=False, description="forbids some use: commercial, redistribution, region")


class Package(Fact):
    """A file of knowledge/packages/."""

    id: Identifier
    pip: tuple[str, ...] = Field(description="distribution names; `*` stands for anything, as in nvidia-*-cu12")
    only_with_extra: dict[str, str] = Field(
        default={}, description="name[extra] and what it brings: a name that stands here is harmless without the extra"
    )
    conda: tuple[str, ...] = Field(default=(), description="names on conda where they differ; `*` as in `pip`")
    foreign: tuple[str, ...] = Field(
        default=(),
        description="names that show CUDA in a resolution: `*` stands for anything, `!` before a name excepts it",
    )
    repositories: tuple[str, ...] = Field(
        default=(), description="owner/name, or a folder, where people build it from under another name than in `pip`"
    )
    imports: tuple[str, ...] = ()
    family: Identifier
    probe: ProbeName = Field(default="", description="the look at an installed one: a file of payload/probes/")
    purpose: str
    licence: Licence | None = None
    traps: tuple[str, ...] = ()
    routes: tuple[Route, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _extras_are_of_its_names(self) -> Package:
        for term in self.only_with_extra:
            name, bracket, extra = term.partition("[")
            if name not in self.pip or not bracket or not extra.endswith("]") or len(extra) < 2:
                raise ValueError(f"{term!r} in only_with_extra is not one of the names in pip with an extra behind it")
        return self

    @model_validator(mode="after")
    def _routes_differ(self) -> Package:
        ids = [route.id for route in self.routes]
        if len(set(ids)) != len(ids):
            raise ValueError("two routes have the same id")
        return self
