"""Console form of `rocm3d jobs`: a table of job states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from rocm3d.model.jobs import JobsReport, JobState
from rocm3d.render.console_forms import document_lines, summary_lines
from rocm3d.render.sanitize import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from rocm3d.model.jobs import JobStatus

STYLES = {"done": "green", "running": "cyan", "failed": "bold red", "timed_out": "bold red", "cancelled": "yellow"}
MAX_DONE_SHOWN = 60
MAX_DOUBLES_SHOWN = 20
_HEADER = ("job", "state", "attempts", "interrupted", "where", "time", "")
_NUMBER_COLUMNS = (2, 3, 5)


@document_lines.register(JobsReport)
def _jobs(document: JobsReport) -> Iterable[RenderableType]:
    yield from (Text(clean(note), style="dim") for note in document.notes)
    shown = (
        [job for job in document.jobs if job.state != "done"] if len(document.jobs) > MAX_DONE_SHOWN else document.jobs
    )
    yield from job_table(shown)
    if len(shown) < len(document.jobs):
        yield Text(f"done jobs not shown: {len(document.jobs) - len(shown)}", style="dim")


def job_table(jobs: Sequence[JobState]) -> list[Text]:
    """Formatted by hand, because rich is slow for thousands of rows."""
    rows = [
        (
            clean(job.id),
            job.state.replace("_", " "),
            str(job.attempts),
            str(job.interruptions or ""),
            clean(job.slot),
            "" if job.seconds is None else duration(job.seconds),
            clean(job.reason),
        )
        for job in jobs
    ]
    if not rows:
        return []
    widths = [max(len(row[column]) for row in (_HEADER, *rows)) for column in range(len(_HEADER))]
    table = [Text(_line(_HEADER, widths), style="dim")]
    for job, row in zip(jobs, rows, strict=True):
        text = Text(_line(row, widths))
        text.stylize(STYLES.get(job.state, ""), widths[0] + 2, widths[0] + 2 + len(row[1]))
        table.append(text)
    return table


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    padded = (
        text.rjust(width) if column in _NUMBER_COLUMNS else text.ljust(width)
        for column, (text, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(padded).rstrip()


@summary_lines.register(JobsReport)
def _closing(document: JobsReport) -> Iterable[RenderableType]:
    yield Text(f"{state_counts(document.counts)}{time_left(document.seconds_left)}")
    if document.runner is not None:
        yield Text(f"run by process {document.runner}")
    yield from (Text(line, style="yellow") for line in double_lines(document.doubles))
    failed = [job for job in document.jobs if job.state in ("failed", "timed_out")]
    if failed:
        yield Text(f"see {clean(failed[0].log)}; run them again with `rocm3d jobs retry`")


def double_lines(jobs: Sequence[JobState]) -> Iterable[str]:
    """The jobs that ran twice or may have, with the attempts that count."""
    if jobs:
        yield f"ran twice, or may have: {len(jobs)} (see ROCM3D_ATTEMPT_ID in docs/jobs.md)"
    for job in jobs[:MAX_DOUBLES_SHOWN]:
        attempts = ", ".join(
            f"attempt {item.attempt} {'completed' if item.completed else 'has no recorded end'}" for item in job.doubles
        )
        yield f"  {clean(job.id)}: {attempts}; repeated as attempt {job.attempts}"
    if len(jobs) > MAX_DOUBLES_SHOWN:
        yield f"  more: {len(jobs) - MAX_DOUBLES_SHOWN}, see --format json"


def state_counts(counts: Mapping[JobStatus, int]) -> str:
    """Such as `3 done, 1 failed`."""
    return ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in counts.items()) or "no jobs"


def time_left(seconds: float | None) -> str:
    """The estimated remaining time, or empty."""
    return "" if seconds is None else f"; about {duration(seconds)} left"


def duration(seconds: float) -> str:
    """0.42 s, 12 s, 3:07, 1:02:03."""
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, seconds_part = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds_part:02}" if hours else f"{minutes}:{seconds_part:02}"
