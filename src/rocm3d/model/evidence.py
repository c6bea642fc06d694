"""The bundle: which documents say so, by digest, and the four counts."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.target import Gpu
from rocm3d.model.verdict import Verdict


class Sealed(Record):
    """A file of the bundle and the SHA-256 it had."""

    path: str
    sha256: str


class Missing(Record):
    """A link of the chain that was not obtained, and why."""

    link: str
    reason: str


class SealedRun(Record):
    """A recorded run that is kept with the port. `missing` are links of its chain, as far as there is one."""

    folder: str = Field(description="of its bundle, below the folder runs")
    sha256: str = Field(default="", description="of the evidence.json in it; empty: it is no whole bundle")
    name: str = ""
    outcome: str = Field(description="how it ended; altered: its bundle was changed since; unread: there is no record")
    reason: str = ""
    of_these_sources: bool | None = Field(
        default=None, description="whether the code is still what ran; None: not known"
    )
    missing: tuple[Missing, ...] = ()


class Tally(Record):
    """The four counts that end every summary."""

    changed: int
    left_for_person: int
    rejected: int
    not_verified: int


class Evidence(Document):
    """evidence.json. `missing` is what was not obtained."""

    repository: str
    made: datetime
    machine: str
    gpu: Gpu
    documents: tuple[Sealed, ...]
    files: tuple[Sealed, ...]
    verdicts: tuple[Verdict, ...]
    tally: Tally
    missing: tuple[Missing, ...]
    sealed_runs: tuple[SealedRun, ...] = ()
