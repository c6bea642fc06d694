"""What a report puts together: a port, and the runs that were recorded with it."""

from __future__ import annotations

from rocm3d.model.base import Document, Record
from rocm3d.model.bundle import Altered, Bundle, Chain
from rocm3d.model.evidence import Evidence
from rocm3d.model.run import RunRecord


class JoinedRun(Record):
    """A recorded run and the chain of its evidence. What is `altered` in its bundle is no longer what was sealed."""

    folder: str
    run: RunRecord
    chain: Chain
    altered: tuple[Altered, ...] = ()

    @property
    def good(self) -> bool:
        """Whether it did what was asked of it, and nobody has touched its bundle since."""
        return self.run.passed and not self.altered


class UnreadRun(Record):
    """A folder of a run that is no whole bundle, and why."""

    folder: str
    reason: str


class PortReport(Evidence):
    """`rocm3d report PATH --format json`: evidence.json, with the runs that lie beside it."""

    moved: tuple[str, ...] = ()
    runs: tuple[JoinedRun, ...] = ()
    unread: tuple[UnreadRun, ...] = ()


class BundleReport(Document):
    """`rocm3d report BUNDLE`: a bundle as it lies, and whether it is still what was sealed."""

    name: str
    sha256: str
    bundle: Bundle
    altered: tuple[Altered, ...] = ()

    @property
    def runs(self) -> tuple[JoinedRun, ...]:
        """Its runs, each with its own chain; the whole bundle is trusted or none of it."""
        chains = self.bundle.chains
        return tuple(
            JoinedRun(folder=self.name, run=run, chain=chain, altered=self.altered)
            for run, chain in zip(self.bundle.runs, chains, strict=False)
        )
