"""Runs all jobs on an engine: keeps every slot busy and the journal up to date."""

from __future__ import annotations

import shutil
import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.jobs.engine import ScheduledAttempt
from rocm3d.jobs.folder import DiskFullError
from rocm3d.jobs.job_progress import report
from rocm3d.jobs.status_files import kill_leftovers
from rocm3d.model.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocm3d.jobs.engine import AttemptEvent, Engine
    from rocm3d.jobs.folder import RunFolder
    from rocm3d.jobs.job_progress import JobProgress
    from rocm3d.jobs.journal import JobJournal
    from rocm3d.jobs.slots import Slot
    from rocm3d.jobs.specification import Jobs
    from rocm3d.model.jobs import JobsReport

POLL_SECONDS = 0.2
WATCH_SECONDS = 0.25
_MIN_FREE_BYTES = 1 << 20
# How many waiting jobs are searched for one that fits the free memory of a slot.
_LOOKAHEAD = 64


class JobRunner:
    """One run of a jobs.toml. `watch` is called a few times a second, for example to show progress."""

    def __init__(  # noqa: PLR0913, PLR0917  (all that a run consists of)
        self,
        jobs: Jobs,
        folder: RunFolder,
        journal: JobJournal,
        progress: dict[str, JobProgress],
        engine: Engine,
        watch: Callable[[JobRunner], None] | None = None,
    ) -> None:
        self.jobs, self.folder, self.journal, self.progress, self.engine = jobs, folder, journal, progress, engine
        self.watch = watch
        self.running: dict[str, ScheduledAttempt] = {}
        self._by_id = {job.id: job for job in jobs.jobs}
        self._free_slots: deque[Slot] = deque(engine.slots())
        self._busy_until: dict[str, float] = {}
        self._changed: dict[str, JobProgress] = {}
        self._stop_error: MachineError | None = None
        self._last_watch = 0.0
        self.waiting: deque[str] = deque()

    def run(self) -> None:
        """Run until no job is waiting or running. Ctrl-C ends the running jobs and is raised again."""
        self._adopt()
        stuck = set(kill_leftovers(self.progress.values(), self.folder.root / "status"))
        ready = (progress.id for progress in self.progress.values() if progress.state == "waiting")
        self.waiting.extend(job for job in ready if job not in stuck)
        self._handle_requests()
        try:
            while True:
                self._dispatch()
                self._save()
                if not self.running and (self._stop_error or not self.waiting):
                    break
                self._handle_events()
                self._handle_requests()
                self._notify_watch()
        except KeyboardInterrupt:
            self._interrupt()
            raise
        finally:
            self._notify_watch(last=True)
        if self._stop_error is not None:
            raise self._stop_error
        if stuck:
            raise MachineError(
                f"processes of an earlier run of {', '.join(sorted(stuck))} are still alive and cannot be killed",
                hint="end them by hand, then run the jobs again",
            )

    def _handle_events(self) -> None:
        for event in self.engine.events(POLL_SECONDS):
            self._handle_event(event)

    def _handle_event(self, event: AttemptEvent) -> None:
        task = self.running.get(event.key)
        if task is None or event.kind == "begun":
            if task is not None and event.text:
                self.progress[task.job.id].remote = event.text
                self._mark_changed(task.job.id)
            return
        del self.running[event.key]
        self._free_slots.append(task.slot)
        progress = self.progress[task.job.id]
        if event.kind == "over":
            progress.close(event.attempt or task.read_status(), task.job, self.jobs.run.interruptions)
        elif event.kind == "lost":
            self._handle_lost(task, progress)
        else:
            progress.undo_begin()
            self._handle_refusal(task, event)
        if progress.state == "waiting":
            self.waiting.append(progress.id)
        self._mark_changed(progress.id)

    def _handle_lost(self, task: ScheduledAttempt, progress: JobProgress) -> None:
        status_path = self.folder.status(task.job.id, task.attempt)
        if not status_path.exists() and not status_path.with_name(f"{status_path.name}.running").exists():
            progress.undo_begin()  # it never started
            return
        progress.close(task.read_status(), task.job, self.jobs.run.interruptions)
        if kill_leftovers([progress], status_path.parent):
            progress.state, progress.reason = "failed", "its processes are still alive and cannot be killed"

    def _handle_refusal(self, task: ScheduledAttempt, event: AttemptEvent) -> None:
        if event.kind == "busy":
            self._busy_until[task.slot.name] = time.monotonic() + POLL_SECONDS
        elif event.full:
            self._stop_error = DiskFullError(str(self.folder.root))
        else:
            self._stop_error = MachineError(f"job {task.job.id} cannot be started: {event.text}")

    def _dispatch(self) -> None:
        if self._stop_error is not None or not self.waiting or not self._free_slots:
            return
        if shutil.disk_usage(self.folder.root).free < _MIN_FREE_BYTES:
            self._stop_error = DiskFullError(str(self.folder.root))
            return
        tasks = []
        now = time.time()
        for _ in range(len(self._free_slots)):
            slot = self._free_slots.popleft()
            task = self._next_task(slot, now)
            if task is None:
                self._free_slots.append(slot)
            else:
                tasks.append(task)
        if tasks:
            self.running.update((task.key, task) for task in tasks)
            self._save()
            self.engine.start(tasks)

    def _next_task(self, slot: Slot, now: float) -> ScheduledAttempt | None:
        if self._busy_until.get(slot.name, 0.0) > time.monotonic():
            return None
        for position in range(min(len(self.waiting), _LOOKAHEAD)):
            job = self._by_id[self.waiting[position]]
            if slot.can_run(job):
                del self.waiting[position]
                attempt = self.progress[job.id].begin(slot.name, now)
                self._mark_changed(job.id)
                return ScheduledAttempt(job, attempt, slot, self.folder, self.progress[job.id].attempt_id)
        return None

    def _adopt(self) -> None:
        """Attempts that an earlier runner submitted to a cluster may still run, or may have ended meanwhile."""
        for progress in self.progress.values():
            if not progress.remote:
                continue
            slot = (
                self._free_slots.popleft() if self._free_slots else replace(self.engine.slots()[0], name=progress.slot)
            )
            task = ScheduledAttempt(self._by_id[progress.id], progress.attempts, slot, self.folder, progress.attempt_id)
            if self.engine.adopt(task, progress.remote):
                progress.state = "running"
                self.running[task.key] = task
                continue
            self._free_slots.appendleft(slot)
            progress.close(task.read_status(), task.job, self.jobs.run.interruptions)
            self._mark_changed(progress.id)

    def _handle_requests(self) -> None:
        """Handle cancel and retry requests from other terminals."""
        for job, action in self.journal.take_requests():
            progress = self.progress.get(job)
            if progress is None:
                continue
            if action == "cancel" and progress.state == "running":
                self.engine.stop(f"{job}.{progress.attempts}", "cancelled")
            elif action == "cancel" and progress.state == "waiting":
                progress.cancel()
                if job in self.waiting:
                    self.waiting.remove(job)
            elif action == "retry" and progress.state in ("failed", "timed_out", "cancelled"):
                progress.retry()
                self.waiting.append(job)
            self._mark_changed(job)

    def _interrupt(self) -> None:
        """End all running jobs and save the results so far. A second Ctrl-C does not wait."""
        for key in self.running:
            self.engine.stop(key, "interrupted")
        grace = max((task.job.grace for task in self.running.values()), default=0.0)
        end = time.monotonic() + grace + 2
        self._stop_error = MachineError("interrupted")
        while self.running and time.monotonic() < end:
            self._handle_events()
        self._save()

    def _mark_changed(self, job: str) -> None:
        self._changed[job] = self.progress[job]

    def _save(self) -> None:
        if not self._changed:
            return
        try:
            self.journal.write(self._changed.values())
            self._changed.clear()
        except DiskFullError as error:
            # Nothing is lost: the next run rebuilds the journal from the status files.
            self._stop_error = error

    def _notify_watch(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if self.watch is not None and (last or now - self._last_watch >= WATCH_SECONDS):
            self._last_watch = now
            self.watch(self)

    def report(self) -> JobsReport:
        """The current state of all jobs."""
        return report(self.jobs, self.folder, self.progress, [slot.name for slot in self.engine.slots()])
