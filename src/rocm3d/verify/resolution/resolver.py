"""Request and result types that all resolvers share, and the Resolver protocol."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from rocm3d.model.plan_choices import Platform
from rocm3d.verify.resolution.index import IndexSettings

ProblemKind = Literal["conflict", "build", "unreachable", "time-out", "other"]
"""conflict: no compatible versions exist; build: reading the metadata needs a build, and the build fails."""


@dataclass(frozen=True)
class ResolveRequest:
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

    @property
    def key(self) -> object:
        """By file contents, because each session has another folder. Local links are equal in all: the stub wheels."""
        files = (self.requirements, *self.constraints, *self.overrides)
        texts = tuple((path.name, path.read_text(encoding="utf-8")) for path in files)
        links = tuple(link if "://" in link else "" for link in self.links)
        return texts, self.python, self.platform, links, self.index, self.indexes, self.without_dependencies


@dataclass(frozen=True)
class ResolvedPackage:
    """One distribution that would be installed. `url` is its file; `size` is in bytes, None if the index has none.

    `files` are all its files with their sha256, only if the resolver lists them.
    """

    name: str
    version: str
    url: str = ""
    size: int | None = None
    is_source: bool = False
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class DependencyEdge:
    """One dependency: `parent` in `version` requires `name`. `parent` is empty for the requirements themselves."""

    parent: str
    version: str
    name: str
    specifier: str = ""


@dataclass(frozen=True)
class ResolutionProblem:
    """Why there is no resolution. `subject`: the distribution that caused it, or empty."""

    kind: ProblemKind
    text: str
    subject: str = ""


@dataclass(frozen=True)
class Resolution:
    """What would be installed, or the problem. Edges include those of versions that the resolver rejected."""

    packages: tuple[ResolvedPackage, ...] = ()
    edges: tuple[DependencyEdge, ...] = ()
    problem: ResolutionProblem | None = None


class Resolver(Protocol):
    """A program that resolves requirements."""

    @property
    def indexes(self) -> IndexSettings:
        """The index settings it uses."""

    @property
    def label(self) -> str:
        """Name and version, for verdicts."""

    def resolve(self, request: ResolveRequest) -> Resolution:
        """Resolves without installing anything."""
