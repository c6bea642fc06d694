"""Engine for Slurm: jobs are submitted as arrays with submitit. Slurm assigns the GPU; only one of its masks is kept.

squeue lists waiting and running jobs; the result of a job is in its status file, on a file system that all nodes share.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rocm3d.jobs.engine import AttemptEvent
from rocm3d.jobs.slots import Slot
from rocm3d.jobs.status_files import Attempt, with_stop_reason
from rocm3d.model.errors import MachineError, UserError
from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from types import TracebackType

    from rocm3d.jobs.engine import ScheduledAttempt
    from rocm3d.jobs.folder import RunFolder
    from rocm3d.jobs.specification import Jobs

_MAX_QUEUED = 256
_POLL_SECONDS = 0.2
_QUEUE_SECONDS = 3.0
_CALL_SECONDS = 60.0
_START_SECONDS = 60.0


class SlurmEngine:
    """`slots` in jobs.toml limits how many jobs are in the queue at a time."""

    name = "slurm"

    def __init__(self, jobs: Jobs, folder: RunFolder) -> None:
        self._jobs, self._folder = jobs, folder
        self._tasks: dict[str, ScheduledAttempt] = {}
        self._remote: dict[str, str] = {}
        self._stop_reasons: dict[str, str] = {}
        self._started_events: list[AttemptEvent] = []
        self._queue_checked = 0.0
        self._executor()
        for job in jobs.jobs:
            self._minutes(job.timeout, job.grace)

    def _executor(self) -> Any:
        try:
            import submitit  # noqa: PLC0415  (an extra)
        except ImportError as error:
            raise MachineError("engine slurm: submitit is not installed", hint="pip install 'rocm3d[slurm]'") from error
        try:
            # The runner handles retries.
            return submitit.SlurmExecutor(folder=self._folder.root / "submitit", max_num_timeout=0)
        except RuntimeError as error:
            raise MachineError("engine slurm needs srun and sbatch of a Slurm cluster") from error

    def _minutes(self, timeout: float | None, grace: float) -> int:
        if timeout is None:
            raise UserError("engine slurm needs a timeout for every job", hint='for example timeout = "2h" in [run]')
        return math.ceil((timeout + grace + _START_SECONDS) / 60)

    def __enter__(self) -> SlurmEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to close: the runner has cancelled queued jobs before."""

    def slots(self) -> Sequence[Slot]:
        """Positions in the queue."""
        return [Slot(f"slurm-{number + 1}") for number in range(self._jobs.run.slots or _MAX_QUEUED)]

    def notes(self) -> Sequence[str]:
        """The nodes are not checked."""
        return ["not verified that jobs see one GPU: Slurm assigns the GPUs"]

    def start(self, tasks: Sequence[ScheduledAttempt]) -> None:
        """Submit one array per time limit."""
        by_limit = sorted(tasks, key=lambda task: task.job.timeout or 0.0)
        for _, group in groupby(by_limit, key=lambda task: task.job.timeout):
            self._submit(list(group))

    def _submit(self, tasks: list[ScheduledAttempt]) -> None:
        from submitit.helpers import CommandFunction  # noqa: PLC0415

        executor = self._executor()
        limit = max(self._minutes(task.job.timeout, task.job.grace) for task in tasks)
        executor.update_parameters(time=limit, job_name=self._jobs.path.stem, **self._parameters())
        try:
            with executor.batch():
                submitted = [executor.submit(CommandFunction(task.remote_command(), verbose=False)) for task in tasks]
        except Exception as error:  # submitit raises various types for errors of sbatch
            if isinstance(error, OSError):
                raise
            raise MachineError(f"Slurm refused the jobs: {str(error).strip().splitlines()[-1]}") from error
        for task, job in zip(tasks, submitted, strict=True):
            self._tasks[task.key], self._remote[task.key] = task, str(job.job_id)
            self._started_events.append(AttemptEvent(task.key, "begun", text=str(job.job_id)))
        self._queue_checked = time.monotonic()

    def _parameters(self) -> dict[str, Any]:
        settings = self._jobs.slurm
        parameters: dict[str, Any] = {
            "partition": settings.partition,
            "account": settings.account,
            "qos": settings.qos,
            "gres": settings.gres,
            "cpus_per_task": settings.cpus_per_task,
            "mem": None if settings.mem_gb is None else f"{settings.mem_gb:g}GB",
            "setup": list(settings.setup) or None,
        }
        return {name: value for name, value in parameters.items() if value is not None}

    def adopt(self, task: ScheduledAttempt, remote: str) -> bool:
        """True if the job is still in Slurm's queue, or if squeue fails."""
        queued = self._queued_ids()
        is_queued = queued is None or remote in queued
        if is_queued:
            self._tasks[task.key], self._remote[task.key] = task, remote
        return is_queued

    def stop(self, key: str, ending: str) -> None:
        """Run scancel."""
        if key in self._remote:
            self._stop_reasons[key] = ending
            run(["scancel", self._remote[key]], seconds=_CALL_SECONDS)
            self._queue_checked = 0.0

    def events(self, seconds: float) -> Sequence[AttemptEvent]:
        """New status files, and every few seconds jobs that left the queue without one."""
        started, self._started_events = self._started_events, []
        finished = [event for key in tuple(self._tasks) if (event := self._finish(key)) is not None]
        if time.monotonic() - self._queue_checked >= _QUEUE_SECONDS and self._tasks:
            finished += self._finish_vanished()
        if not finished and not started:
            time.sleep(min(seconds, _POLL_SECONDS))
        return [*started, *finished]

    def _finish(self, key: str) -> AttemptEvent | None:
        task = self._tasks[key]
        if not self._folder.status(task.job.id, task.attempt).exists():
            return None
        ended = with_stop_reason(task.read_status(), self._stop_reasons.get(key, ""))
        self._remove(key)
        return AttemptEvent(key, "over", ended)

    def _finish_vanished(self) -> list[AttemptEvent]:
        self._queue_checked = time.monotonic()
        queued = self._queued_ids()
        if queued is None:
            return []
        vanished = []
        for key, task in tuple(self._tasks.items()):
            if self._remote[key] not in queued:
                unfinished = AttemptEvent(key, "over", Attempt(task.attempt, self._stop_reasons.get(key, "")))
                # Its status file may have been written since the last check.
                vanished.append(self._finish(key) or unfinished)
                self._remove(key)
            elif key in self._stop_reasons:
                # A signal that arrives while a job starts is lost, so repeat it.
                run(["scancel", self._remote[key]], seconds=_CALL_SECONDS)
        return vanished

    def _remove(self, key: str) -> None:
        for mapping in (self._tasks, self._remote, self._stop_reasons):
            mapping.pop(key, None)

    @staticmethod
    def _queued_ids() -> set[str] | None:
        """Ids of our jobs in the queue, one per array element; None if squeue fails."""
        user = ["--user", str(os.getuid())]
        ended = run(["squeue", "--noheader", "--array", "--format", "%i", *user], seconds=_CALL_SECONDS)
        return set(ended.stdout.decode("ascii", "replace").split()) if ended.code == 0 else None
