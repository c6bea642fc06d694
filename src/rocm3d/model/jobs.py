"""The states of the jobs of a jobs.toml."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record

JobStatus = Literal["waiting", "running", "done", "failed", "timed_out", "cancelled"]
JOB_STATUSES: tuple[JobStatus, ...] = ("waiting", "running", "done", "failed", "timed_out", "cancelled")


class JobState(Record):
    """One job with the counts of its attempts."""

    id: str
    state: JobStatus
    attempts: int = Field(description="number of starts")
    failures: int = Field(description="attempts that failed or timed out since the job was last submitted")
    interruptions: int = Field(description="attempts that were interrupted from outside; they are repeated")
    slot: str = Field(default="", description="the slot of the last attempt")
    seconds: float | None = Field(default=None, description="duration of the last attempt; so far, if it is running")
    code: int | None = None
    reason: str = ""
    log: str = ""


class JobsReport(Document):
    """The result of `rocm3d jobs run` and `jobs status`."""

    name: str
    folder: str = Field(description="the folder of journal, status files and logs")
    engine: str
    runner: int | None = Field(default=None, description="id of the process that runs the jobs")
    slots: tuple[str, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="remarks on GPUs, device masks and earlier runs")
    seconds_left: float | None = Field(default=None, description="estimate")
    jobs: tuple[JobState, ...]

    @property
    def counts(self) -> dict[JobStatus, int]:
        """Number of jobs by state, without empty states."""
        totals = Counter(job.state for job in self.jobs)
        return {state: totals[state] for state in JOB_STATUSES if totals[state]}

    @property
    def has_failures(self) -> bool:
        """Whether a job failed, timed out or was cancelled."""
        return bool({"failed", "timed_out", "cancelled"} & self.counts.keys())
