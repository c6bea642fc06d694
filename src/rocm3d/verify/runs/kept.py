"""A recorded run as it is handed to verify, and which of them there are to judge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.run import RunRecord


@dataclass(frozen=True)
class Kept:
    """One bundle. `problem` says why it cannot be believed; `is_present` whether the code is still what ran."""

    folder: str
    record: RunRecord | None = None
    problem: str = ""
    is_present: bool | None = None

    @property
    def stale(self) -> str:
        """Why it says nothing about the repository as it is; empty where it does."""
        if self.problem:
            return self.problem
        if self.is_present is None:
            return "it cannot be told which state of the code it ran"
        return "" if self.is_present else "the code has changed since"


def latest(runs: Iterable[Kept]) -> list[tuple[Kept, RunRecord]]:
    """Of those that count the last one of each name: an earlier try is no verdict on a later one."""
    found: dict[str, tuple[Kept, RunRecord]] = {}
    for kept in runs:
        record = kept.record
        if record is None or kept.stale:
            continue
        earlier = found.get(record.name)
        if earlier is None or earlier[1].started <= record.started:
            found[record.name] = (kept, record)
    return list(found.values())
