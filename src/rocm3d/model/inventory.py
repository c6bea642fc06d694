"""What a repository holds, as far as a port is concerned."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.finding import Finding
from rocm3d.model.location import Location

Readiness = Literal["ready", "ready-with-deps", "needs-edits", "partial", "blocked"]


class Skipped(Record):
    """A file that was not read, and why: what we did not look at is part of the result."""

    path: str
    reason: str


class Dependency(Record):
    """One mention of a distribution in a manifest; `package` is its record in knowledge/, if it has one."""

    name: str
    requirement: str
    location: Location
    package: str | None = None


class Extension(Record):
    """Native code that the repository builds itself."""

    name: str
    how: Literal["build_extension", "jit", "cmake"]
    sources: tuple[str, ...] = Field(
        description="relative to the folder of its script; * where the script has a pattern"
    )
    location: Location
    include_dirs: tuple[str, ...] = ()
    macros: tuple[str, ...] = Field(default=(), description="NAME or NAME=VALUE")
    flags: tuple[str, ...] = Field(default=(), description="for the host compiler, as far as literals tell")
    device_flags: tuple[str, ...] = Field(default=(), description="for device sources, as far as literals tell")


class Counts(Record):
    """How much was looked at."""

    files: int
    bytes: int
    python: int
    cuda: int
    manifests: int


class Inventory(Record):
    """The repository by its parts. `repository` is the folder's name, never its place on somebody's disk."""

    repository: str
    known_as: str | None = Field(default=None, description="the record of knowledge/ports/ whose marks are all here")
    counts: Counts
    dependencies: tuple[Dependency, ...]
    extensions: tuple[Extension, ...]
    families: dict[str, int]
    skipped: tuple[Skipped, ...]
    ignored: int = 0
    readiness: Readiness
    reasons: tuple[str, ...]


class Scan(Document):
    """inventory.json: what scan writes."""

    inventory: Inventory
    findings: tuple[Finding, ...]
    known: int = Field(default=0, ge=0, description="findings left out because a baseline holds them")
