"""What came out of a run: each artifact is sound, is not, or could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.run import RunRecord
    from rocm3d.model.verdict import Outcome

    Told = tuple[Outcome, str, tuple[str, ...]]

_METRICS = 6


def artifacts(run: RunRecord) -> Iterator[Told]:
    """One for all that are sound, one for each that is not. A run that made nothing shows nothing."""
    sound = [item for item in run.artifacts if item.outcome == "ok"]
    for item in run.artifacts:
        if item.outcome == "bad":
            yield "failed", f"{item.path}: {'; '.join(item.problems)}", ()
        elif item.outcome == "not_read":
            yield "not_run", f"{item.path} could not be read: {item.reason}", ()
    if sound:
        yield "passed", "", tuple(f"{item.path}: {_numbers(item.metrics)}" for item in sound)
    elif not run.artifacts:
        yield "not_run", "no artifact came out of it", ()


def _numbers(metrics: dict[str, int | float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in list(metrics.items())[:_METRICS])
