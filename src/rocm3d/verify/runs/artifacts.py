"""Verdicts on the artifacts of a run: valid, invalid or unreadable."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.run import RunRecord
    from rocm3d.model.verdict import Outcome

    VerdictParts = tuple[Outcome, str, tuple[str, ...]]

_MAX_METRICS = 6


def artifact_verdicts(run: RunRecord) -> Iterator[VerdictParts]:
    """One passed for all valid artifacts, one for each other artifact. A run without artifacts is not_run."""
    valid = [item for item in run.artifacts if item.outcome == "ok"]
    for item in run.artifacts:
        if item.outcome == "bad":
            yield "failed", f"{item.path}: {'; '.join(item.problems)}", ()
        elif item.outcome == "not_read":
            yield "not_run", f"cannot read {item.path}: {item.reason}", ()
    if valid:
        yield "passed", "", tuple(f"{item.path}: {_describe_metrics(item.metrics)}" for item in valid)
    elif not run.artifacts:
        yield "not_run", "the run wrote no artifacts", ()


def _describe_metrics(metrics: dict[str, int | float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in list(metrics.items())[:_MAX_METRICS])
