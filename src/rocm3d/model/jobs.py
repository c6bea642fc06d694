"""The states of the jobs of a jobs.toml."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record

JobStatus = Literal["waiting", "running", "done", "failed", "timed_out", "cancelled"]
JOB_STATUSES: tuple[JobStatus, ...] = ("waiting", "running", "done", "failed", "timed_out", "cancelled")


class DoubleAttempt(Record):
    """An attempt that completed, or may have, although the job was started again after it."""

    attempt: int
    id: str = Field(default="", description="ROCM3D_ATTEMPT_ID of the attempt")
    completed: bool = Field(description="its success is recorded; false: its end was not recorded, so it is unknown")


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
    attempt_id: str = Field(default="", description="ROCM3D_ATTEMPT_ID of the last attempt")
    doubles: tuple[DoubleAttempt, ...] = Field(
        default=(), description="earlier attempts that completed or may have: the job may have run twice"
    )


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
    def doubles(self) -> tuple[JobState, ...]:
        """Jobs that ran twice, or may have."""
        return tuple(job for job in self.jobs if job.doubles)

    @property
    def has_failures(self) -> bool:
        """Whether a job failed, timed out or was cancelled."""
        return bool({"failed", "timed_out", "cancelled"} & self.counts.keys())
