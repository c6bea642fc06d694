"""Recovers the progress of every job from the journal and the status files; the status files take precedence."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.jobs import status_files
from rocm3d.jobs.job_progress import JobProgress

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocm3d.jobs.specification import Job

_JOB_VARIABLE = b"ROCM3D_JOB="
_KILL_SECONDS = 5.0


def recover_progress(
    jobs: Iterable[Job], known: Mapping[str, JobProgress], folder: Path, max_kills: int
) -> dict[str, JobProgress]:
    """Progress by job id, in the order of jobs.toml. Attempts that the journal does not count yet come from files."""
    attempts_by_job = status_files.list_attempts(folder)
    recovered = {}
    for job in jobs:
        attempts, progress = attempts_by_job.get(job.id, {}), known.get(job.id)
        if progress is None:
            progress = JobProgress(job.id, job.digest)
        elif progress.digest != job.digest:
            # The command has changed: earlier attempts do not count.
            progress = JobProgress(
                job.id, job.digest, attempts=progress.attempts, closed=max(attempts, default=progress.attempts)
            )
        _replay(progress, job, attempts, folder, max_kills)
        recovered[job.id] = progress
    return recovered


def _replay(progress: JobProgress, job: Job, attempts: dict[int, str], folder: Path, max_kills: int) -> None:
    if progress.remote:
        return  # still on a cluster, whose engine has the current state
    for number in range(progress.closed + 1, max([progress.attempts, *attempts]) + 1):
        # An attempt of the journal without a status file never started.
        attempt = status_files.read_attempt(folder, number, attempts[number]) if number in attempts else None
        if attempt is not None:
            progress.close(attempt, job, max_kills)
    progress.attempts = progress.closed = max([progress.closed, *attempts])
    if progress.state == "running":
        progress.state = "waiting"


def kill_leftovers(progress: Iterable[JobProgress], folder: Path) -> list[str]:
    """Kill processes of interrupted attempts; returns the ids of jobs whose processes are still alive afterwards."""
    attempts_by_job = status_files.list_attempts(folder)
    last = {
        entry.id: attempts_by_job[entry.id][entry.attempts]
        for entry in progress
        if entry.state == "waiting" and entry.attempts in attempts_by_job.get(entry.id, {})
    }
    alive = {job: name for job, name in last.items() if status_files.is_alive(folder, name)}
    end = time.monotonic() + _KILL_SECONDS
    while alive and time.monotonic() < end:
        _kill({str(folder / name.removesuffix(".running")) for name in alive.values()})
        time.sleep(0.05)
        alive = {job: name for job, name in alive.items() if status_files.is_alive(folder, name)}
    return sorted(alive)


def _kill(status_paths: set[str]) -> None:
    """Kill the processes of these attempts, found by the status file that their environment names."""
    marks = {_JOB_VARIABLE + os.fsencode(path) for path in status_paths}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if not marks.isdisjoint((entry / "environ").read_bytes().split(b"\0")):
                    os.kill(int(entry.name), signal.SIGKILL)
