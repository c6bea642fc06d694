"""Console form of `rocm3d jobs`: a table of job states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from rocm3d.model.jobs import JobsReport, JobState
from rocm3d.render.cleaning import clean
from rocm3d.render.forms import closing, parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from rocm3d.model.jobs import JobStatus

STYLES = {"done": "green", "running": "cyan", "failed": "bold red", "timed_out": "bold red", "cancelled": "yellow"}
MANY = 60
_HEAD = ("job", "state", "attempts", "interrupted", "where", "time", "")
_NUMBERS = (2, 3, 5)


@parts.register(JobsReport)
def _jobs(document: JobsReport) -> Iterable[RenderableType]:
    yield from (Text(clean(note), style="dim") for note in document.notes)
    shown = [job for job in document.jobs if job.state != "done"] if len(document.jobs) > MANY else document.jobs
    yield from lines(shown)
    if len(shown) < len(document.jobs):
        yield Text(f"done jobs not shown: {len(document.jobs) - len(shown)}", style="dim")


def lines(jobs: Sequence[JobState]) -> list[Text]:
    """Formatted by hand, because rich is slow for thousands of rows."""
    rows = [
        (
            clean(job.id),
            job.state.replace("_", " "),
            str(job.attempts),
            str(job.interruptions or ""),
            clean(job.slot),
            "" if job.seconds is None else span(job.seconds),
            clean(job.reason),
        )
        for job in jobs
    ]
    if not rows:
        return []
    widths = [max(len(row[column]) for row in (_HEAD, *rows)) for column in range(len(_HEAD))]
    found = [Text(_line(_HEAD, widths), style="dim")]
    for job, row in zip(jobs, rows, strict=True):
        text = Text(_line(row, widths))
        text.stylize(STYLES.get(job.state, ""), widths[0] + 2, widths[0] + 2 + len(row[1]))
        found.append(text)
    return found


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    padded = (
        text.rjust(width) if place in _NUMBERS else text.ljust(width)
        for place, (text, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(padded).rstrip()


@closing.register(JobsReport)
def _closing(document: JobsReport) -> Iterable[RenderableType]:
    yield Text(f"{counted(document.counts)}{left(document.seconds_left)}")
    if document.runner is not None:
        yield Text(f"run by process {document.runner}")
    unwell = [job for job in document.jobs if job.state in ("failed", "timed_out")]
    if unwell:
        yield Text(f"see {clean(unwell[0].log)}; run them again with `rocm3d jobs retry`")


def counted(counts: Mapping[JobStatus, int]) -> str:
    """Such as `3 done, 1 failed`."""
    return ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in counts.items()) or "no jobs"


def left(seconds: float | None) -> str:
    """The estimated remaining time, or empty."""
    return "" if seconds is None else f"; about {span(seconds)} left"


def span(seconds: float) -> str:
    """0.42 s, 12 s, 3:07, 1:02:03."""
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
