"""Progress of one job over all its attempts, and the state that each ending leads to."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.jobs.specification import Job
    from rocm3d.jobs.status_files import Attempt
    from rocm3d.model.jobs import JobStatus


@dataclass
class JobProgress:
    """One row of the journal. Attempts up to `closed` are counted; `kills` are consecutive kills by other programs."""

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

    def begin(self, slot: str, now: float) -> int:
        """Start an attempt; returns its number."""
        self.attempts += 1
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
        # An attempt of another command under the same id does not count.
        if attempt.digest not in ("", self.digest):
            return
        if attempt.ending == "done":
            self.state, self.reason = "done", ""
        elif attempt.ending in ("failed", "timed_out"):
            self._count_failure(attempt, job)
        elif attempt.ending == "cancelled":
            self.state, self.reason = "cancelled", "cancelled while running"
        else:
            self._count_interruption(attempt, max_kills)

    def _count_failure(self, attempt: Attempt, job: Job) -> None:
        self.failures += 1
        self.kills = 0
        if attempt.ending == "timed_out":
            self.reason = f"stopped at the {job.timeout or attempt.seconds:g} s limit"
        else:
            self.reason = (
                f"exit code {attempt.code}" if attempt.signal is None else f"ended by {signal_name(attempt.signal)}"
            )
        again = self.failures <= job.retries
        self.state = "waiting" if again else "timed_out" if attempt.ending == "timed_out" else "failed"

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
