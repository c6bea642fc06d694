"""The document about the state of all jobs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rocm3d.model.jobs import JobsReport, JobState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rocm3d.jobs.folder import RunFolder
    from rocm3d.jobs.job_progress import JobProgress
    from rocm3d.jobs.specification import Jobs


def report(
    jobs: Jobs, folder: RunFolder, progress: Mapping[str, JobProgress], slots: Sequence[str], notes: Sequence[str] = ()
) -> JobsReport:
    """Jobs in the order of jobs.toml."""
    now = time.time()
    return JobsReport(
        name=jobs.path.stem,
        folder=str(folder.root),
        engine=jobs.run.engine,
        runner=folder.runner_pid(),
        slots=tuple(slots),
        notes=tuple(notes),
        seconds_left=seconds_left(progress.values(), len(slots), now),
        jobs=tuple(_job_state(progress[job.id], folder, now) for job in jobs.jobs if job.id in progress),
    )


def seconds_left(progress: Iterable[JobProgress], slots: int, now: float) -> float | None:
    """Estimate from the mean duration of finished jobs; None before the first is done and after the last."""
    all_jobs = list(progress)
    done = [job_progress.seconds for job_progress in all_jobs if job_progress.state == "done"]
    unfinished = [entry for entry in all_jobs if entry.state in ("waiting", "running")]
    if not done or not unfinished or not slots:
        return None
    mean = sum(done) / len(done)
    total = sum(
        max(mean - (now - entry.started), mean / 10) if entry.state == "running" else mean for entry in unfinished
    )
    return round(total / min(slots, len(unfinished)), 1)


def _job_state(progress: JobProgress, folder: RunFolder, now: float) -> JobState:
    seconds = now - progress.started if progress.state == "running" else progress.seconds if progress.attempts else None
    log = folder.log(progress.id, progress.attempts)
    return JobState(
        id=progress.id,
        state=progress.state,
        attempts=progress.attempts,
        failures=progress.failures,
        interruptions=progress.interruptions,
        slot=progress.slot,
        seconds=None if seconds is None else round(max(0.0, seconds), 3),
        code=progress.code,
        reason=progress.reason,
        log=str(log) if progress.attempts else "",
    )
