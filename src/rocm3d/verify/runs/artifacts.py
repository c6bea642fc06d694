"""Verdicts on the artifacts of a run: valid, invalid or unreadable."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.run import RunRecord
    from rocm3d.model.verdict import Outcome

    Told = tuple[Outcome, str, tuple[str, ...]]

_METRICS = 6


def artifacts(run: RunRecord) -> Iterator[Told]:
    """One passed for all valid artifacts, one for each other artifact. A run without artifacts is not_run."""
    sound = [item for item in run.artifacts if item.outcome == "ok"]
    for item in run.artifacts:
        if item.outcome == "bad":
            yield "failed", f"{item.path}: {'; '.join(item.problems)}", ()
        elif item.outcome == "not_read":
            yield "not_run", f"cannot read {item.path}: {item.reason}", ()
    if sound:
        yield "passed", "", tuple(f"{item.path}: {_numbers(item.metrics)}" for item in sound)
    elif not run.artifacts:
        yield "not_run", "the run wrote no artifacts", ()


def _numbers(metrics: dict[str, int | float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in list(metrics.items())[:_METRICS])
