"""Progress of each job over all its attempts, the state that each ending leads to, and the report about all jobs."""

from __future__ import annotations

import json
import secrets
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.jobs import DoubleAttempt, JobsReport, JobState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rocm3d.jobs.folder import RunFolder
    from rocm3d.jobs.specification import Job, Jobs
    from rocm3d.jobs.status_files import Attempt
    from rocm3d.model.jobs import JobStatus


@dataclass
class JobProgress:
    """One row of the journal. Attempts up to `closed` are counted; `kills` are consecutive kills by other programs.

    `completions` is a JSON list of attempts that completed or may have: number, id, whether its success is recorded.
    """

    id: str
    digest: str
    state: JobStatus = "waiting"
    attempts: int = 0
    closed: int = 0
    failures: int = 0
    interruptions: int = 0
    kills: int = 0
    slot: str = ""
    started: float = 0.0
    seconds: float = 0.0
    code: int | None = None
    reason: str = ""
    remote: str = ""
    attempt_id: str = ""
    completions: str = "[]"

    def begin(self, slot: str, now: float) -> int:
        """Start an attempt; returns its number."""
        self.attempts += 1
        self.attempt_id = f"{self.id}.{self.attempts}-{secrets.token_hex(8)}"
        self.state, self.slot, self.started, self.code, self.reason = "running", slot, now, None, ""
        return self.attempts

    def undo_begin(self) -> None:
        """Undo `begin`: the attempt did not start."""
        self.attempts -= 1
        self.state = "waiting"

    def close(self, attempt: Attempt, job: Job, max_kills: int) -> None:
        """Count a finished attempt. After more than `kills` consecutive kills the job fails."""
        self.attempts = max(self.attempts, attempt.number)
        self.closed = attempt.number
        self.code, self.seconds, self.remote = attempt.code, attempt.seconds, ""
        self.slot = attempt.slot or self.slot
        self.attempt_id = attempt.id or self.attempt_id
        # An attempt of another command under the same id does not count.
        if attempt.digest not in ("", self.digest):
            return
        if attempt.ending in ("", "done"):
            entry = [attempt.number, attempt.id, attempt.ending == "done"]
            self.completions = json.dumps([*self._completions(), entry])
        if attempt.ending == "done":
            self.state, self.reason = "done", ""
        elif attempt.ending in ("failed", "timed_out"):
            self._count_failure(attempt, job)
        elif attempt.ending == "cancelled":
            self.state, self.reason = "cancelled", "cancelled while running"
        else:
            self._count_interruption(attempt, max_kills)

    def _completions(self) -> list[tuple[int, str, bool]]:
        try:
            entries = json.loads(self.completions)
        except (TypeError, ValueError):
            return []
        is_list = isinstance(entries, list)
        return [(int(entry[0]), str(entry[1]), bool(entry[2])) for entry in entries] if is_list else []

    @property
    def doubles(self) -> tuple[DoubleAttempt, ...]:
        """Attempts before the last that completed or may have."""
        return tuple(
            DoubleAttempt(attempt=number, id=attempt_id, completed=completed)
            for number, attempt_id, completed in self._completions()
            if number < self.attempts
        )

    def _count_failure(self, attempt: Attempt, job: Job) -> None:
        self.failures += 1
        self.kills = 0
        is_late = attempt.ending == "timed_out"
        if is_late:
            self.reason = f"stopped at the {job.timeout or attempt.seconds:g} s limit"
        elif attempt.signal is None:
            self.reason = f"exit code {attempt.code}"
        else:
            self.reason = f"ended by {signal_name(attempt.signal)}"
        self.state = "waiting" if self.failures <= job.retries else "timed_out" if is_late else "failed"

    def _count_interruption(self, attempt: Attempt, max_kills: int) -> None:
        self.interruptions += 1
        self.state, self.reason = "waiting", "interrupted"
        if attempt.ending == "killed":
            self.kills += 1
            self.reason = f"killed by {signal_name(attempt.signal or 0)} from another process"
            if self.kills > max_kills:
                self.state = "failed"
                self.reason += f", {self.kills} times; possibly out of memory (kernel OOM killer)"

    def cancel(self) -> None:
        """Cancel a waiting job; other states stay."""
        if self.state == "waiting":
            self.state, self.reason = "cancelled", "cancelled before it started"

    def retry(self) -> None:
        """Queue a failed, timed-out or cancelled job again and reset its failure counters."""
        if self.state in ("failed", "timed_out", "cancelled"):
            self.state, self.failures, self.kills, self.reason = "waiting", 0, 0, "queued again"


def signal_name(number: int) -> str:
    """Name of a signal, such as SIGSEGV."""
    known = {member.value: member.name for member in signal.Signals}
    return known.get(number, f"signal {number}")


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
    done = [entry.seconds for entry in all_jobs if entry.state == "done"]
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
        log=str(folder.log(progress.id, progress.attempts)) if progress.attempts else "",
        attempt_id=progress.attempt_id if progress.attempts else "",
        doubles=progress.doubles,
    )
