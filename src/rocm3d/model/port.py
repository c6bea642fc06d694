"""A known repository: what it needs, how to try it in bounded time, and what people report."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.package import Licence
from rocm3d.model.source import Fact, Gfx, Identifier, Source


class Need(Record):
    """A package the repository depends on. `without` says what happens if it is missing."""

    package: Identifier
    required: bool = True
    without: str = ""


class Memory(Record):
    """GPU memory one way of running it takes, in GB."""

    mode: str
    gb: float = Field(gt=0)
    offload: bool = Field(default=False, description="part of the weights lies in the system's memory: slower")
    known: date
    source: Source


class Point(Record):
    """A dated circumstance that makes the repository more or less viable, for some GPUs or all."""

    id: Identifier
    effect: int = Field(ge=-4, le=4)
    why: str
    since: date
    until: date | None = None
    gfx: tuple[Gfx, ...] = ()
    source: Source


class Expected(Record):
    """A value that a run of the workload must show, as `rocm3d run --expect` reads it: KEY OP VALUE."""

    expect: str
    known: date
    source: Source


class Workload(Record):
    """The smallest run that proves something. In its command `<...>` stands for what a user has under his own name."""

    command: tuple[str, ...] = ()
    does: str
    minutes: int = Field(gt=0)
    artifact: str
    check: str
    expect: tuple[Expected, ...] = ()


class Result(Record):
    """A figure that somebody reports. Claimed until an evidence bundle of ours says the same."""

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
    first_known: date | None = Field(default=None, description="before this nobody could have judged it")
    hosted: bool = Field(default=False, description="a service: there is nothing to port")
    tier: Literal[1, 2, 3]
    families: tuple[Identifier, ...]
    needs: tuple[Need, ...] = ()
    builds_on: Identifier | None = Field(default=None, description="another port whose needs and points count here too")
    recipes: tuple[Identifier, ...] = ()
    marks: tuple[str, ...] = Field(
        default=(), description="paths that only a checkout of this repository has, all of them"
    )
    routes: dict[Identifier, Identifier] = Field(
        default={}, description="package to the route that its port ran with; taken where it fits"
    )
    memory: tuple[Memory, ...] = ()
    points: tuple[Point, ...] = ()
    workload: Workload | None = None
    results: tuple[Result, ...] = ()
    licence: Licence | None = None
    advice: tuple[str, ...] = ()
