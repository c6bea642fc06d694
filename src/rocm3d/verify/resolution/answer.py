"""What is asked of a resolver, and what it answers, whichever one it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.model.wish import Platform
    from rocm3d.verify.resolution.index import Indexes

Trouble = Literal["conflict", "build", "unreachable", "time-out", "other"]
"""conflict: no versions go together; build: one must be built to be read, and that fails here."""


@dataclass(frozen=True)
class Request:
    """One install, not made. `links` are folders and pages of files.

    `indexes` are asked beside the machine's own; `index`, where there is one, instead of them.
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
    """One distribution that would be installed; `url` is the file, `size` its bytes where the index says."""

    name: str
    version: str
    url: str = ""
    size: int | None = None
    is_source: bool = False


@dataclass(frozen=True)
class Edge:
    """Who asked for what. `asker` is empty for what the requirements themselves ask."""

    asker: str
    version: str
    name: str
    wanted: str = ""


@dataclass(frozen=True)
class Problem:
    """Why there is no resolution; `subject` is the distribution it is about, where there is one."""

    kind: Trouble
    text: str
    subject: str = ""


@dataclass(frozen=True)
class Resolution:
    """What would be installed, or the problem. Edges may be of versions that were tried and given up."""

    packages: tuple[Resolved, ...] = ()
    edges: tuple[Edge, ...] = ()
    problem: Problem | None = None


class Resolver(Protocol):
    """A program that resolves. `label` says which, and in which version."""

    @property
    def indexes(self) -> Indexes:
        """What it asks."""

    @property
    def label(self) -> str:
        """What verdicts call it."""

    def resolve(self, request: Request) -> Resolution:
        """Ask it; nothing is installed."""
