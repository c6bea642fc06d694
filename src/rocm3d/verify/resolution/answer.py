"""Request and result types that all resolvers share, and the Resolver protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.model.wish import Platform
    from rocm3d.verify.resolution.index import Indexes

Trouble = Literal["conflict", "build", "unreachable", "time-out", "other"]
"""conflict: no compatible versions exist; build: reading the metadata needs a build, and the build fails."""


@dataclass(frozen=True)
class Request:
    """One dry-run install. `links`: folders and pages of files, as for --find-links.

    `indexes` are used in addition to the machine's indexes; a non-empty `index` replaces them.
    """

    requirements: Path
    python: str
    platform: Platform
    constraints: tuple[Path, ...] = ()
    overrides: tuple[Path, ...] = ()
    links: tuple[str, ...] = ()
    index: str = ""
    indexes: tuple[str, ...] = ()
    without_dependencies: bool = False


@dataclass(frozen=True)
class Resolved:
    """One distribution that would be installed. `url` is its file; `size` is in bytes, None if the index has none."""

    name: str
    version: str
    url: str = ""
    size: int | None = None
    is_source: bool = False


@dataclass(frozen=True)
class Edge:
    """One dependency: `parent` in `version` requires `name`. `parent` is empty for the requirements themselves."""

    asker: str
    version: str
    name: str
    wanted: str = ""


@dataclass(frozen=True)
class Problem:
    """Why there is no resolution. `subject`: the distribution that caused it, or empty."""

    kind: Trouble
    text: str
    subject: str = ""


@dataclass(frozen=True)
class Resolution:
    """What would be installed, or the problem. Edges include those of versions that the resolver rejected."""

    packages: tuple[Resolved, ...] = ()
    edges: tuple[Edge, ...] = ()
    problem: Problem | None = None


class Resolver(Protocol):
    """A program that resolves requirements."""

    @property
    def indexes(self) -> Indexes:
        """The index settings it uses."""

    @property
    def label(self) -> str:
        """Name and version, for verdicts."""

    def resolve(self, request: Request) -> Resolution:
        """Resolves without installing anything."""
