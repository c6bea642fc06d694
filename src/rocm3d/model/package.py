"""A package whose default install assumes NVIDIA, and its known routes on ROCm."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from typing import Literal

from pydantic import Field, model_validator

from rocm3d.model.base import Record
from rocm3d.model.lock import GitPin
from rocm3d.model.source import Fact, Gfx, Identifier, Range, Status
from rocm3d.model.suite import ProbeName

# A requirement, or the name of a git repository. Not a folder, an option or the URL of a file.
_INSTALLED = re.compile(r"git\+\w+://[^#@]*/([\w.-]+?)(?:\.git)?/?(?:[@#].*)?$|([A-Za-z0-9][\w.-]*)(?=[=<>!~\[;\s]|$)")

Decision = Literal["keep", "drop", "replace", "build", "substitute", "stub", "blocked"]


class Route(Fact):
    """How a package is installed on ROCm. It applies if all ranges hold; an empty range or list means any."""

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
    pin: GitPin | None = Field(default=None, description="the commit of the repository that its commands build")
    unpinned: str = Field(default="", description="why that commit is not known")
    env: dict[str, str] = Field(default={})
    moves: dict[str, str] = Field(
        default={}, description="distributions that the install replaces: name and new version"
    )
    needs: dict[str, Range] = Field(
        default={}, description="required versions of other distributions; two routes of one plan must agree"
    )
    loses: str = Field(default="", description="features that are lost on this route; listed first in a plan")
    import_kept: bool = True
    unless_imported: bool = Field(
        default=False, description="applies only if the program does not import the package at module level"
    )
    proof: str = ""
    fallback: bool = Field(default=False, description="this route runs the slow path on purpose")
    traps: tuple[str, ...] = ()
    verified_on: tuple[str, ...] = ()
    since: date | None = Field(default=None, description="when it became known; absent: always")
    until: date | None = Field(default=None, description="when it stopped working; with status refuted")
    status: Status = "active"

    @model_validator(mode="after")
    def _check_proof(self) -> Route:
        if self.decision in ("replace", "build", "substitute") and not self.proof:
            raise ValueError(f"route {self.id!r} installs code, so it needs `proof`: how to show that its backend runs")
        return self

    @property
    def installed_names(self) -> tuple[str, ...]:
        """The distributions that its commands install, and the repositories that they clone or build from."""
        if self.decision not in ("replace", "build", "substitute"):
            return ()
        words = (self.requirement, *(word for command in self.commands for word in _installed_words(command)))
        names = (match[match.lastindex or 0] for word in words if (match := _INSTALLED.match(word)))
        return tuple(dict.fromkeys(names))


def _installed_words(command: tuple[str, ...]) -> Iterator[str]:
    """Requirements of a pip command, as they are, and the URL of a clone, as pip writes it."""
    if command[:2] == ("git", "clone"):
        yield from (f"git+{word}" for word in command if "://" in word)
    elif command[:2] == ("pip", "install"):
        yield from (word for before, word in pairwise(command[1:]) if not before.endswith("-url"))


class Licence(Record):
    """Licence terms to know before porting. `wording` is the text for reports."""

    name: str
    note: str = ""
    wording: str = ""
    restrictive: bool = Field(default=False, description="forbids some use: commercial, redistribution, region")


class Package(Fact):
    """A file of knowledge/packages/."""

    id: Identifier
    pip: tuple[str, ...] = Field(description="distribution names; `*` matches anything, as in nvidia-*-cu12")
    only_with_extra: dict[str, str] = Field(
        default={}, description="name[extra] and what the extra installs; without the extra the name is harmless"
    )
    conda: tuple[str, ...] = Field(default=(), description="names on conda if they differ; `*` as in `pip`")
    foreign: tuple[str, ...] = Field(
        default=(),
        description="names that indicate CUDA in a resolution; `*` matches anything, `!` before a name excludes it",
    )
    repositories: tuple[str, ...] = Field(
        default=(), description="owner/name or folder that it is built from, if the name differs from those in `pip`"
    )
    imports: tuple[str, ...] = ()
    harmless: bool = Field(
        default=False,
        description="its default install needs no CUDA, and no rule reports it: known only so that its own "
        "`repositories` count as scanned",
    )
    family: Identifier
    probe: ProbeName = Field(default="", description="the backend check of an installed one: a file of payload/probes/")
    purpose: str
    licence: Licence | None = None
    traps: tuple[str, ...] = ()
    routes: tuple[Route, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _check_extras(self) -> Package:
        for term in self.only_with_extra:
            name, bracket, extra = term.partition("[")
            if name not in self.pip or not bracket or not extra.endswith("]") or len(extra) < 2:
                raise ValueError(f"{term!r} in only_with_extra must be a name from pip with an extra: name[extra]")
        return self

    @model_validator(mode="after")
    def _check_route_ids(self) -> Package:
        ids = [route.id for route in self.routes]
        if len(set(ids)) != len(ids):
            raise ValueError("two routes have the same id")
        return self
