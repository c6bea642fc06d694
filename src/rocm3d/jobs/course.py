"""The course of one job from its first start to its end, and what each ending leads to."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.jobs.specification import Job
    from rocm3d.jobs.status_files import Attempt
    from rocm3d.model.jobs import State


@dataclass
class Course:
    """Where a job stands. Attempts up to `closed` are accounted for; `kills` are in a row and not by us."""

    id: str
    digest: str
    state: State = "waiting"
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
        """A new attempt; its number."""
        self.attempts += 1
        self.state, self.slot, self.started, self.code, self.reason = "running", slot, now, None, ""
        return self.attempts

    def take_back(self) -> None:
        """The attempt that was begun never came about."""
        self.attempts -= 1
        self.state = "waiting"

    def close(self, attempt: Attempt, job: Job, kills: int) -> None:
        """An attempt is over; `kills` is how many are borne before a job is given up."""
        self.attempts = max(self.attempts, attempt.number)
        self.closed = attempt.number
        self.code, self.seconds, self.remote = attempt.code, attempt.seconds, ""
        self.slot = attempt.slot or self.slot
        # A start for another command tells nothing of this one.
        if attempt.digest not in ("", self.digest):
            return
        if attempt.ending == "done":
            self.state, self.reason = "done", ""
        elif attempt.ending in ("failed", "timed_out"):
            self._fail(attempt, job)
        elif attempt.ending == "cancelled":
            self.state, self.reason = "cancelled", "cancelled while it ran"
        else:
            self._interrupt(attempt, kills)

    def _fail(self, attempt: Attempt, job: Job) -> None:
        self.failures += 1
        self.kills = 0
        if attempt.ending == "timed_out":
            self.reason = f"not done after {job.timeout or attempt.seconds:g} s"
        else:
            self.reason = (
                f"exit code {attempt.code}" if attempt.signal is None else f"ended by {name_of(attempt.signal)}"
            )
        again = self.failures <= job.retries
        self.state = "waiting" if again else "timed_out" if attempt.ending == "timed_out" else "failed"

    def _interrupt(self, attempt: Attempt, kills: int) -> None:
        self.interruptions += 1
        self.state, self.reason = "waiting", "interrupted"
        if attempt.ending == "killed":
            self.kills += 1
            self.reason = f"killed by {name_of(attempt.signal or 0)} from outside"
            if self.kills > kills:
                self.state = "failed"
                self.reason += f", {self.kills} times; the kernel does so when memory runs out"

    def cancel(self) -> None:
        """One that has not begun will not."""
        if self.state == "waiting":
            self.state, self.reason = "cancelled", "cancelled before it began"

    def retry(self) -> None:
        """One that came to a bad end is asked for again, with all its retries."""
        if self.state in ("failed", "timed_out", "cancelled"):
            self.state, self.failures, self.kills, self.reason = "waiting", 0, 0, "asked for again"


def name_of(number: int) -> str:
    """SIGSEGV and the like."""
    known = {item.value: item.name for item in signal.Signals}
    return known.get(number, f"signal {number}")
