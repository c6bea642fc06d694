"""Backend checks: whether an installed package computes the right result on the GPU. Parsed from a payload's output."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from rocm3d.model.base import Document, Record

Seen = Literal["accelerated", "fallback", "broken", "absent", "not_run", "imported"]
"""fallback: right results, slow path; broken: no result or a wrong one; imported: only the import was checked."""


class Worst(Record):
    """The element with the largest error relative to the tolerance. Numbers are text, because JSON has no NaN."""

    index: tuple[int, ...]
    got: str
    wanted: str


class Check(Record):
    """One result compared with its reference. Without a tolerance it must be equal."""

    name: str
    tolerance: str = ""
    agrees: bool
    reason: str = ""
    max_error: float | None = None
    worst: Worst | None = None


class FoundModule(Record):
    """A module as it was imported. `stands_in` is how a drop-in or stub of rocm3d marks itself."""

    name: str
    file: str
    version: str = ""
    distribution: str = ""
    origin: Literal["environment", "repository", "editable", "elsewhere"]
    stands_in: str = ""


class Look(Record):
    """One backend check, run in its own process. `kernels` is None if no profile was available."""

    package: str = ""
    probe: str
    outcome: Seen
    reason: str = ""
    evidence: Literal["", "library", "kernels", "provider", "device"] = ""
    modules: tuple[FoundModule, ...] = ()
    libraries: tuple[str, ...] = ()
    kernels: tuple[str, ...] | None = None
    backends: tuple[str, ...] = Field(default=(), description="backends of the kernels, by kernel name")
    checks: tuple[Check, ...] = ()
    facts: dict[str, Any] = Field(default={})
    seconds: float = 0

    @property
    def label(self) -> str:
        """Its name in reports. The package comes first, because two packages may share a probe."""
        return self.package or self.probe


class SuiteLooks(Record):
    """The backend checks of one suite."""

    suite: str
    title: str
    looks: tuple[Look, ...]


class Smoke(Document):
    """The result of `rocm3d smoke`: backend checks on the GPU of this machine."""

    machine: str
    interpreter: str
    knowledge_date: str
    suites: tuple[SuiteLooks, ...]

    @property
    def looks(self) -> tuple[Look, ...]:
        """The backend checks of all suites."""
        return tuple(look for suite in self.suites for look in suite.looks)
