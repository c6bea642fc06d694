"""A known repository: its dependencies, a short workload, and reported results."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.package import Licence
from rocm3d.model.source import Fact, Gfx, Identifier, Source


class RequiredPackage(Record):
    """A package that the repository depends on. `without` is what happens if it is missing."""

    package: Identifier
    required: bool = True
    without: str = ""


class MemoryNeed(Record):
    """GPU memory that one mode needs, in GB."""

    mode: str
    gb: float = Field(gt=0)
    offload: bool = Field(default=False, description="part of the weights is in system memory: slower")
    known: date
    source: Source


class ViabilityPoint(Record):
    """A dated fact that makes the repository more or less viable, on some or all GPUs."""

    id: Identifier
    effect: int = Field(ge=-4, le=4)
    why: str
    since: date
    until: date | None = None
    gfx: tuple[Gfx, ...] = ()
    source: Source


class ExpectedValue(Record):
    """A value that a run of the workload must have, in the syntax of `rocm3d run --expect`: KEY OP VALUE."""

    expect: str
    known: date
    source: Source


class Workload(Record):
    """The smallest run that proves something. `<...>` in its command is a placeholder for the user's own path."""

    command: tuple[str, ...] = ()
    folder: str = Field(default="", description="the folder of the repository that it runs in; empty: the top folder")
    does: str
    minutes: int = Field(gt=0)
    artifact: str
    check: str
    expect: tuple[ExpectedValue, ...] = ()


class ReportedResult(Record):
    """A reported number. It is `claimed` until one of our evidence bundles confirms it."""

    metric: str
    value: str
    hardware: str
    status: Literal["claimed", "verified"] = "claimed"
    source: Source


class Port(Fact):
    """A file of knowledge/ports/."""

    id: Identifier
    title: str
    repository: str = Field(default="", description="owner/name; empty for a hosted service")
    commit: str = ""
    first_known: date | None = Field(default=None, description="fit does not assess it for earlier dates")
    hosted: bool = Field(default=False, description="a hosted service: nothing to port")
    tier: Literal[1, 2, 3]
    families: tuple[Identifier, ...]
    needs: tuple[RequiredPackage, ...] = ()
    builds_on: Identifier | None = Field(default=None, description="another port whose needs and points also apply")
    recipes: tuple[Identifier, ...] = ()
    marks: tuple[str, ...] = Field(default=(), description="paths that together identify a checkout of this repository")
    mark_texts: dict[str, str] = Field(
        default={}, description="paths with a text that each contains, where a fork has the same files"
    )
    routes: dict[Identifier, Identifier] = Field(
        default={}, description="package to the route that an earlier port used; preferred if it applies"
    )
    memory: tuple[MemoryNeed, ...] = ()
    points: tuple[ViabilityPoint, ...] = ()
    workload: Workload | None = None
    results: tuple[ReportedResult, ...] = ()
    licence: Licence | None = None
    advice: tuple[str, ...] = ()
