"""evidence.json of a port: documents by digest, verdicts and counts."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from rocm3d.model.base import Digest, Document, Record
from rocm3d.model.port_state import PortState
from rocm3d.model.target import Gpu
from rocm3d.model.verdict import Verdict


class SealedFile(Record):
    """A file of the bundle and its SHA-256 when it was sealed."""

    path: str
    sha256: Digest


class MissingLink(Record):
    """A missing link of the chain of evidence, and the reason."""

    link: str
    reason: str


class SealedRun(Record):
    """A recorded run that is stored with the port. `missing` lists missing links of its chain of evidence."""

    folder: str = Field(description="of its bundle, relative to the folder runs")
    sha256: Digest = Field(default="", description="of its evidence.json; empty: the bundle is incomplete")
    name: str = ""
    outcome: str = Field(description="how it ended; altered: its bundle was changed later; unread: no readable record")
    reason: str = ""
    of_these_sources: bool | None = Field(
        default=None, description="whether the code is unchanged since the run; None: unknown"
    )
    missing: tuple[MissingLink, ...] = ()


class Tally(Record):
    """Four counts, for readers of earlier schemas. How far a port is, is its state."""

    changed: int
    left_for_person: int
    rejected: int
    not_verified: int


class Evidence(Document):
    """evidence.json. `missing` lists the missing links of the chain of evidence; `state` is that of its time."""

    repository: str
    made: datetime
    machine: str
    gpu: Gpu
    documents: tuple[SealedFile, ...]
    files: tuple[SealedFile, ...]
    verdicts: tuple[Verdict, ...]
    tally: Tally
    missing: tuple[MissingLink, ...]
    sealed_runs: tuple[SealedRun, ...] = ()
    state: PortState | None = None
