"""Stored runs of a repository, the selection of those that apply to the current code, and verdicts on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rocm3d.model.run import RunRecord
from rocm3d.model.verdict import Outcome, Verdict
from rocm3d.verify.probe import Probe


@dataclass(frozen=True)
class StoredRun:
    """One run bundle. `problem`: why it is invalid. `matches_code`: whether the code is unchanged; None if unknown."""

    folder: str
    record: RunRecord | None = None
    problem: str = ""
    matches_code: bool | None = None

    @property
    def unusable_reason(self) -> str:
        """Why the run does not apply to the current code; empty if it does."""
        if self.problem:
            return self.problem
        if self.matches_code is None:
            return "the version of the code that ran is unknown"
        return "" if self.matches_code else "the code has changed since this run"


def latest_runs(runs: Iterable[StoredRun]) -> list[tuple[StoredRun, RunRecord]]:
    """The latest usable run of each name."""
    by_name: dict[str, tuple[StoredRun, RunRecord]] = {}
    for run in runs:
        record = run.record
        if record is None or run.unusable_reason:
            continue
        earlier = by_name.get(record.name)
        if earlier is None or earlier[1].started <= record.started:
            by_name[record.name] = (run, record)
    return list(by_name.values())


def run_verdict(
    probe: Probe, run: StoredRun, outcome: Outcome, reason: str = "", checked: Iterable[str] = ()
) -> Verdict:
    """A verdict on one run, which is its subject and the start of every text."""
    subject = f"runs/{run.folder}"
    texts = (f"{subject}: {text}" for text in checked)
    verdict = probe.verdict(outcome, f"{subject}: {reason}" if reason else "", texts)
    return verdict.model_copy(update={"subject": subject})
