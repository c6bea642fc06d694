"""Evidence bundles: their content, the check for alterations, the difference between two of them, and reports."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.evidence import Evidence, SealedFile, Tally
from rocm3d.model.run import RunRecord
from rocm3d.model.verdict import Verdict

LinkName = Literal["manifest", "workload", "backend", "artifact", "profile"]
Alteration = Literal["changed", "missing", "added", "link"]
Section = Literal["environment", "workload", "backend", "time", "memory", "artifact", "numerics", "profile"]


class Link(Record):
    """One link of the chain of evidence from the machine to the result. If it is missing, `what` is the reason."""

    link: LinkName
    there: bool
    what: str


class Chain(Record):
    """The chain of evidence of one run."""

    run: str
    links: tuple[Link, ...]

    @property
    def missing(self) -> tuple[Link, ...]:
        """Links without evidence."""
        return tuple(link for link in self.links if not link.there)


class StageSummary(Record):
    """The document of a stage and a summary of one line."""

    stage: str
    path: str
    says: str


class Bundle(Document):
    """evidence.json of a bundle. Deterministic: it contains no times except those of the runs."""

    repository: str = ""
    stages: tuple[StageSummary, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    tally: Tally | None = None
    runs: tuple[RunRecord, ...] = Field(default=(), description="including their artifacts")
    chains: tuple[Chain, ...] = ()
    files: tuple[SealedFile, ...] = Field(default=(), description="every other file of the folder, sorted by name")


class AlteredFile(Record):
    """A file that differs from the sealed one. A symbolic link always counts as altered."""

    path: str
    how: Alteration


class BundleCheck(Document):
    """The result of `rocm3d evidence check`."""

    bundle: str
    sha256: str = Field(description="of evidence.json, which contains the digests of all other files")
    altered: tuple[AlteredFile, ...] = ()
    sealed: int = 0
    stages: tuple[StageSummary, ...] = ()
    chains: tuple[Chain, ...] = ()


class LinkPair(Record):
    """The same link in bundle A and bundle B."""

    link: LinkName
    a: Link
    b: Link


class DiffRow(Record):
    """One value in bundle A and bundle B; empty if a bundle does not have it."""

    section: Section
    name: str
    a: str
    b: str
    change: str = ""

    @property
    def differs(self) -> bool:
        """Whether the row belongs in the report."""
        return self.a != self.b or bool(self.change)


class EvidenceDiff(Document):
    """The result of `rocm3d evidence diff`. `worse` lists what is missing or fails in B but not in A."""

    a: str
    b: str
    links: tuple[LinkPair, ...]
    rows: tuple[DiffRow, ...]
    worse: tuple[str, ...] = ()


class ReportedRun(Record):
    """A recorded run and its chain of evidence. `altered` lists files that differ from the sealed ones."""

    folder: str
    run: RunRecord
    chain: Chain
    altered: tuple[AlteredFile, ...] = ()

    @property
    def is_good(self) -> bool:
        """Whether the run passed and its bundle is unaltered."""
        return self.run.passed and not self.altered


class UnreadRun(Record):
    """A folder of a run whose bundle is incomplete, and the reason."""

    folder: str
    reason: str


class PortReport(Evidence):
    """`rocm3d report PATH --format json`: evidence.json with the runs stored next to it."""

    moved: tuple[str, ...] = ()
    runs: tuple[ReportedRun, ...] = ()
    unread: tuple[UnreadRun, ...] = ()


class BundleReport(Document):
    """`rocm3d report BUNDLE`: a bundle, and which of its files were altered."""

    name: str
    sha256: str
    bundle: Bundle
    altered: tuple[AlteredFile, ...] = ()

    @property
    def runs(self) -> tuple[ReportedRun, ...]:
        """The runs with their chains. An altered file counts against every run of the bundle."""
        return tuple(
            ReportedRun(folder=self.name, run=run, chain=chain, altered=self.altered)
            for run, chain in zip(self.bundle.runs, self.bundle.chains, strict=False)
        )
