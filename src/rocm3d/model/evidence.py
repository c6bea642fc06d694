"""The bundle: which documents say so, by digest, and the four counts."""

from __future__ import annotations

from datetime import datetime

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
