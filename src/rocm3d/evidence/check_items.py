"""What verdicts and recorded runs say, item by item: a subject with several checks is as good as its worst one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rocm3d.model.evidence import SealedRun
from rocm3d.model.verdict import Verdict

ItemOutcome = Literal["passed", "failed", "not_run"]
_WORST_FIRST: tuple[ItemOutcome, ...] = ("failed", "not_run", "passed")


@dataclass(frozen=True, order=True)
class CheckItem:
    """One unit, package or run; what has no subject is named by its reason. `targets` are those that it is open for.

    `is_unverified`: a run that nobody checked.
    """

    name: str
    outcome: ItemOutcome
    reason: str = ""
    targets: tuple[str, ...] = ()
    is_unverified: bool = False

    @property
    def label(self) -> str:
        return f"{self.name} for {', '.join(self.targets)}" if self.targets else self.name


def check_items(verdicts: Iterable[Verdict]) -> list[CheckItem]:
    """One item for each subject, and for each distinct verdict without one. Skipped checks are left out."""
    groups: dict[tuple[str, ...], list[Verdict]] = {}
    for item in verdicts:
        if item.outcome != "skipped":
            key = (item.subject,) if item.subject else (item.probe, item.outcome, item.reason, *item.looked_at)
            groups.setdefault(key, []).append(item)
    return [_item(group) for _, group in sorted(groups.items())]


def _item(group: Sequence[Verdict]) -> CheckItem:
    outcome = next(word for word in _WORST_FIRST if any(item.outcome == word for item in group))
    worst = [item for item in group if item.outcome == outcome]
    reasons = "; ".join(sorted({item.reason for item in worst} - {""}))
    name = worst[0].subject or reasons or worst[0].looked_at[0]
    targets = () if outcome == "passed" else tuple(sorted({item.target for item in worst} - {""}))
    return CheckItem(name, outcome, reasons, targets)


def run_items(runs: Iterable[SealedRun], verdicts: Iterable[Verdict]) -> list[CheckItem]:
    """Runs that the verdicts of level workload do not cover: altered, unreadable, or recorded after the last check."""
    covered = {item.subject for item in verdicts}
    latest = {run.name or run.folder: run for run in runs if run.of_these_sources}
    return [
        item
        for run in runs
        if (item := _run_item(run, is_covered=f"runs/{run.folder}" in covered, is_latest=run in latest.values()))
    ]


def _run_item(run: SealedRun, *, is_covered: bool, is_latest: bool) -> CheckItem | None:
    name = f"runs/{run.folder}"
    reason = f"{name}: {run.outcome}: {run.reason}".removesuffix(": ")
    if run.outcome in ("altered", "unread"):
        return CheckItem(name, "failed" if run.outcome == "altered" else "not_run", reason)
    if is_covered or not is_latest:
        return None
    if run.outcome in ("finished", "interrupted"):
        return CheckItem(name, "not_run", f"{name}: recorded after the last check", is_unverified=True)
    return CheckItem(name, "failed", reason, is_unverified=True)
