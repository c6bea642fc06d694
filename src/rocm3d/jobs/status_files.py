"""Status files, one per attempt, written by the launcher. The progress of every job is recovered from them.

They take precedence over the journal, which can be rebuilt from them.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm3d.jobs.job_progress import JobProgress

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocm3d.jobs.specification import Job

_NAME = re.compile(r"(?P<job>.+)\.(?P<attempt>[1-9][0-9]{0,8})(?P<running>\.running)?")
_MAX_BYTES = 4096
_JOB_VARIABLE = b"ROCM3D_JOB="
_KILL_SECONDS = 5.0


@dataclass(frozen=True)
class Attempt:
    """One start of a job. `ending` is empty if the result is unknown."""

    number: int
    ending: str = ""
    digest: str = ""
    code: int | None = None
    signal: int | None = None
    seconds: float = 0.0
    ended: float = 0.0
    slot: str = ""
    id: str = ""


def list_attempts(folder: Path) -> dict[str, dict[int, str]]:
    """File names by job id and attempt number."""
    by_job: dict[str, dict[int, str]] = {}
    for entry in os.scandir(folder):
        match = _NAME.fullmatch(entry.name)
        if match is not None:
            files = by_job.setdefault(match["job"], {})
            # Both files exist only on a damaged file system; the finished one wins.
            if not (match["running"] and int(match["attempt"]) in files):
                files[int(match["attempt"])] = entry.name
    return by_job


def read_attempt(folder: Path, number: int, name: str) -> Attempt:
    """Read one status file. A damaged file, or one that still has the suffix `.running`, has no ending."""
    try:
        with (folder / name).open("rb") as file:
            status = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        status = None
    if not isinstance(status, dict):
        return Attempt(number)
    digest = _text(status, "digest")
    if name.endswith(".running") or status.get("ending") == "running":
        return Attempt(number, digest=digest, slot=_text(status, "slot"), id=_text(status, "id"))
    return Attempt(
        number,
        _text(status, "ending"),
        digest,
        _number(status, "code"),
        _number(status, "signal"),
        float(_finite_number(status, "seconds")),
        float(_finite_number(status, "ended")),
        _text(status, "slot"),
        _text(status, "id"),
    )


def with_stop_reason(attempt: Attempt, ending: str) -> Attempt:
    """Replace `killed` by the reason for which we stopped the attempt through a scheduler."""
    return replace(attempt, ending=ending) if ending and attempt.ending in ("", "killed", "interrupted") else attempt


def is_alive(folder: Path, name: str) -> bool:
    """Whether a process of the attempt is alive: each of them holds the file lock."""
    try:
        with (folder / name).open("rb") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _text(status: dict[str, Any], name: str) -> str:
    value = status.get(name)
    return value if isinstance(value, str) else ""


def _number(status: dict[str, Any], name: str) -> int | None:
    value = status.get(name)
    return value if isinstance(value, int) else None


def _finite_number(status: dict[str, Any], name: str) -> float:
    value = status.get(name)
    return value if isinstance(value, (int, float)) and value == value and abs(value) < 1e15 else 0.0  # noqa: PLR0124


def recover_progress(
    jobs: Iterable[Job], known: Mapping[str, JobProgress], folder: Path, max_kills: int
) -> dict[str, JobProgress]:
    """Progress by job id, in the order of jobs.toml. Attempts that the journal does not count yet come from files."""
    attempts_by_job = list_attempts(folder)
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
        attempt = read_attempt(folder, number, attempts[number]) if number in attempts else None
        if attempt is not None:
            progress.close(attempt, job, max_kills)
    progress.attempts = progress.closed = max([progress.closed, *attempts])
    if progress.state == "running":
        progress.state = "waiting"


def kill_leftovers(progress: Iterable[JobProgress], folder: Path) -> list[str]:
    """Kill processes of interrupted attempts; returns the ids of jobs whose processes are still alive afterwards."""
    attempts_by_job = list_attempts(folder)
    last = {
        entry.id: attempts_by_job[entry.id][entry.attempts]
        for entry in progress
        if entry.state == "waiting" and entry.attempts in attempts_by_job.get(entry.id, {})
    }
    alive = {job: name for job, name in last.items() if is_alive(folder, name)}
    end = time.monotonic() + _KILL_SECONDS
    while alive and time.monotonic() < end:
        _kill({str(folder / name.removesuffix(".running")) for name in alive.values()})
        time.sleep(0.05)
        alive = {job: name for job, name in alive.items() if is_alive(folder, name)}
    return sorted(alive)


def _kill(status_paths: set[str]) -> None:
    """Kill the processes of these attempts, found by the status file that their environment names."""
    marks = {_JOB_VARIABLE + os.fsencode(path) for path in status_paths}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if not marks.isdisjoint((entry / "environ").read_bytes().split(b"\0")):
                    os.kill(int(entry.name), signal.SIGKILL)
