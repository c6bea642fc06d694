"""A bundle of evidence as a folder: what it holds, whether it is still so, and how two of them differ."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.evidence import Sealed, Tally
from rocm3d.model.run import RunRecord
from rocm3d.model.verdict import Verdict

LinkName = Literal["manifest", "workload", "backend", "artifact", "profile"]
Alteration = Literal["changed", "missing", "added", "link"]
Section = Literal["environment", "workload", "backend", "time", "memory", "artifact", "numerics", "profile"]


class Link(Record):
    """A link of the chain from the machine to the result. Where it is not there, `what` says why."""

    link: LinkName
    there: bool
    what: str


class Chain(Record):
    """The links of one run; without a run none of them is there."""

    run: str
    links: tuple[Link, ...]

    @property
    def missing(self) -> tuple[Link, ...]:
        """What a sceptical reader will ask for."""
        return tuple(link for link in self.links if not link.there)


class StageSaid(Record):
    """The document of a stage and what it says, in one line."""

    stage: str
    path: str
    says: str


class Bundle(Document):
    """evidence.json of a bundle. The only times in it are those of the runs: same inputs, same bytes."""

    repository: str = ""
    stages: tuple[StageSaid, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    tally: Tally | None = None
    runs: tuple[RunRecord, ...] = Field(default=(), description="with their artifacts")
    chains: tuple[Chain, ...] = ()
    files: tuple[Sealed, ...] = Field(default=(), description="every other file of the folder, by name")


class Altered(Record):
    """A file that is not what was sealed; a link in place of a file could lead anywhere."""

    path: str
    how: Alteration


class BundleCheck(Document):
    """What `rocm3d evidence check` shows."""

    bundle: str
    sha256: str = Field(description="of evidence.json, which holds those of all others")
    altered: tuple[Altered, ...] = ()
    sealed: int = 0
    stages: tuple[StageSaid, ...] = ()
    chains: tuple[Chain, ...] = ()


class LinkPair(Record):
    """One link on both sides."""

    link: LinkName
    a: Link
    b: Link


class DiffRow(Record):
    """One thing on both sides; empty where a side does not have it."""

    section: Section
    name: str
    a: str
    b: str
    change: str = ""

    @property
    def differs(self) -> bool:
        """Whether there is something to show."""
        return self.a != self.b or bool(self.change)


class EvidenceDiff(Document):
    """What `rocm3d evidence diff` shows. `worse` is what B lacks or fails at, and A does not."""

    a: str
    b: str
    links: tuple[LinkPair, ...]
    rows: tuple[DiffRow, ...]
    worse: tuple[str, ...] = ()
