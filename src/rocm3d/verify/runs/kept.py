"""Stored runs of a repository, and the selection of those that apply to the current code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.run import RunRecord


@dataclass(frozen=True)
class Kept:
    """One run bundle. `problem`: why it is invalid. `matches_code`: whether the code is unchanged; None if unknown."""

    folder: str
    record: RunRecord | None = None
    problem: str = ""
    is_present: bool | None = None

    @property
    def stale(self) -> str:
        """Why the run does not apply to the current code; empty if it does."""
        if self.problem:
            return self.problem
        if self.is_present is None:
            return "the version of the code that ran is unknown"
        return "" if self.is_present else "the code has changed since this run"


def latest(runs: Iterable[Kept]) -> list[tuple[Kept, RunRecord]]:
    """The latest usable run of each name."""
    found: dict[str, tuple[Kept, RunRecord]] = {}
    for kept in runs:
        record = kept.record
        if record is None or kept.stale:
            continue
        earlier = found.get(record.name)
        if earlier is None or earlier[1].started <= record.started:
            found[record.name] = (kept, record)
    return list(found.values())
