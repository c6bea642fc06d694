"""What was seen of a package in the environment it is installed in. The answer of a payload is read into this."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from rocm3d.model.base import Document, Record

Seen = Literal["accelerated", "fallback", "broken", "absent", "not_run", "imported"]
"""fallback: right results, from the slow path; broken: no result, or a wrong one; imported: no more was asked."""


class Worst(Record):
    """The element that is farthest outside of the tolerance, or nearest to its limit. Numbers as text: NaN is one."""

    index: tuple[int, ...]
    got: str
    wanted: str


class Check(Record):
    """One result against its reference. Without a tolerance it must be equal."""

    name: str
    tolerance: str = ""
    agrees: bool
    reason: str = ""
    max_error: float | None = None
    worst: Worst | None = None


class FoundModule(Record):
    """A module as it was imported. `stands_in` is how one of rocm3d's own marks itself."""

    name: str
    file: str
    version: str = ""
    distribution: str = ""
    origin: Literal["environment", "repository", "editable", "elsewhere"]
    stands_in: str = ""


class Look(Record):
    """One look, in a process of its own. `kernels` is None where no profile could be had."""

    package: str = ""
    probe: str
    outcome: Seen
    reason: str = ""
    evidence: Literal["", "library", "kernels", "provider", "device"] = ""
    modules: tuple[FoundModule, ...] = ()
    libraries: tuple[str, ...] = ()
    kernels: tuple[str, ...] | None = None
    backends: tuple[str, ...] = Field(default=(), description="whose kernels these are, by their names")
    checks: tuple[Check, ...] = ()
    facts: dict[str, Any] = Field(default={})
    seconds: float = 0

    @property
    def label(self) -> str:
        """What reports call it: two packages may share a probe."""
        return self.package or self.probe


class SuiteLooks(Record):
    """The looks of one suite."""

    suite: str
    title: str
    looks: tuple[Look, ...]


class Smoke(Document):
    """What `rocm3d smoke` shows: the GPU of this machine, tried out."""

    machine: str
    interpreter: str
    knowledge_date: str
    suites: tuple[SuiteLooks, ...]

    @property
    def looks(self) -> tuple[Look, ...]:
        """Of all suites."""
        return tuple(look for suite in self.suites for look in suite.looks)
