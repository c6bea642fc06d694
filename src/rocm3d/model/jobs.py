"""How far the jobs of a jobs.toml are."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record

State = Literal["waiting", "running", "done", "failed", "timed_out", "cancelled"]
STATES: tuple[State, ...] = ("waiting", "running", "done", "failed", "timed_out", "cancelled")


class JobState(Record):
    """One job. Of its attempts some failed, some were interrupted, and the last one may run or be done."""

    id: str
    state: State
    attempts: int = Field(description="how often it was started")
    failures: int = Field(description="attempts that failed or ran out of time since it was last asked for")
    interruptions: int = Field(description="attempts that something else ended: they are repeated")
    slot: str = Field(default="", description="where it runs or ran last")
    seconds: float | None = Field(default=None, description="of the last attempt, or so far")
    code: int | None = None
    reason: str = ""
    log: str = ""


class JobsReport(Document):
    """What `rocm3d jobs run` and `jobs status` show."""

    name: str
    folder: str = Field(description="where journal, status files and logs lie")
    engine: str
    runner: int | None = Field(default=None, description="the process that runs the jobs now")
    slots: tuple[str, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="what was found out about GPUs, masks and earlier runs")
    seconds_left: float | None = Field(default=None, description="an estimate")
    jobs: tuple[JobState, ...]

    @property
    def counts(self) -> dict[State, int]:
        """How many jobs are in each state."""
        found = Counter(job.state for job in self.jobs)
        return {state: found[state] for state in STATES if found[state]}

    @property
    def is_unwell(self) -> bool:
        """Whether a job came to an end that was not wanted."""
        return bool({"failed", "timed_out", "cancelled"} & self.counts.keys())
