"""The content of reports: a port with its recorded runs, or one evidence bundle."""

from __future__ import annotations

from rocm3d.model.base import Document, Record
from rocm3d.model.bundle import AlteredFile, Bundle, Chain
from rocm3d.model.evidence import Evidence
from rocm3d.model.run import RunRecord


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
        chains = self.bundle.chains
        return tuple(
            ReportedRun(folder=self.name, run=run, chain=chain, altered=self.altered)
            for run, chain in zip(self.bundle.runs, chains, strict=False)
        )
