"""Runs all jobs on an engine: keeps every slot busy and the journal up to date."""

from __future__ import annotations

import shutil
import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.jobs import status_files
from rocm3d.jobs.engine import Task
from rocm3d.jobs.folder import NoSpace
from rocm3d.jobs.report import report
from rocm3d.jobs.standing import leftovers
from rocm3d.model.failure import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocm3d.jobs.course import Course
    from rocm3d.jobs.engine import Engine, Event
    from rocm3d.jobs.folder import RunFolder
    from rocm3d.jobs.journal import Journal
    from rocm3d.jobs.slots import Slot
    from rocm3d.jobs.specification import Jobs
    from rocm3d.model.jobs import JobsReport

LOOK_EVERY = 0.2
SHOW_EVERY = 0.25
_ROOM = 1 << 20
# How many waiting jobs are searched for one that fits the free memory of a slot.
_AHEAD = 64


class Runner:
    """One run of a jobs.toml. `watch` is called a few times a second, for example to show progress."""

    def __init__(  # noqa: PLR0913, PLR0917  (all that a run consists of)
        self,
        jobs: Jobs,
        folder: RunFolder,
        journal: Journal,
        courses: dict[str, Course],
        engine: Engine,
        watch: Callable[[Runner], None] | None = None,
    ) -> None:
        self.jobs, self.folder, self.journal, self.courses, self.engine = jobs, folder, journal, courses, engine
        self.watch = watch
        self.running: dict[str, Task] = {}
        self._by_id = {job.id: job for job in jobs.jobs}
        self._free: deque[Slot] = deque(engine.slots())
        self._taken: dict[str, float] = {}
        self._changed: dict[str, Course] = {}
        self._stopped: MachineError | None = None
        self._shown = 0.0
        self.waiting: deque[str] = deque()

    def run(self) -> None:
        """Run until no job is waiting or running. Ctrl-C ends the running jobs and is raised again."""
        self._adopt()
        stuck = set(leftovers(self.courses.values(), self.folder.root / "status"))
        ready = (course.id for course in self.courses.values() if course.state == "waiting")
        self.waiting.extend(job for job in ready if job not in stuck)
        self._heed()
        try:
            while True:
                self._dispatch()
                self._write()
                if not self.running and (self._stopped or not self.waiting):
                    break
                self._wait()
        except KeyboardInterrupt:
            self._interrupt()
            raise
        finally:
            self._show(last=True)
        if self._stopped is not None:
            raise self._stopped
        if stuck:
            raise MachineError(
                f"processes of an earlier run of {', '.join(sorted(stuck))} are still alive and cannot be killed",
                hint="end them by hand, then run the jobs again",
            )

    def _wait(self) -> None:
        for event in self.engine.events(LOOK_EVERY):
            self._take(event)
        self._heed()
        self._show()

    def _take(self, event: Event) -> None:
        task = self.running.get(event.key)
        if task is None or event.kind == "begun":
            if task is not None and event.text:
                self.courses[task.job.id].remote = event.text
                self._note(task.job.id)
            return
        del self.running[event.key]
        self._free.append(task.slot)
        course = self.courses[task.job.id]
        if event.kind == "over":
            course.close(event.attempt or self._found(task), task.job, self.jobs.run.interruptions)
        elif event.kind == "lost":
            self._lose(task, course)
        else:
            course.take_back()
            self._refuse(task, event)
        if course.state == "waiting":
            self.waiting.append(course.id)
        self._note(course.id)

    def _lose(self, task: Task, course: Course) -> None:
        place = self.folder.status(task.job.id, task.attempt)
        if not place.exists() and not place.with_name(f"{place.name}.running").exists():
            course.take_back()  # it never started
            return
        course.close(self._found(task), task.job, self.jobs.run.interruptions)
        if leftovers([course], place.parent):
            course.state, course.reason = "failed", "its processes are still alive and cannot be killed"

    def _refuse(self, task: Task, event: Event) -> None:
        if event.kind == "busy":
            self._taken[task.slot.name] = time.monotonic() + LOOK_EVERY
        elif event.full:
            self._stopped = NoSpace(str(self.folder.root))
        else:
            self._stopped = MachineError(f"job {task.job.id} cannot be started: {event.text}")

    def _found(self, task: Task) -> status_files.Attempt:
        """Read the status file of an attempt whose result the engine did not report."""
        place = self.folder.status(task.job.id, task.attempt)
        name = place.name if place.exists() else f"{place.name}.running"
        return status_files.read(place.parent, task.attempt, name)

    def _dispatch(self) -> None:
        if self._stopped is not None or not self.waiting or not self._free:
            return
        if shutil.disk_usage(self.folder.root).free < _ROOM:
            self._stopped = NoSpace(str(self.folder.root))
            return
        begun = []
        now = time.time()
        for _ in range(len(self._free)):
            slot = self._free.popleft()
            task = self._fitting(slot, now)
            if task is None:
                self._free.append(slot)
            else:
                begun.append(task)
        if begun:
            self.running.update((task.key, task) for task in begun)
            self._write()
            self.engine.start(begun)

    def _fitting(self, slot: Slot, now: float) -> Task | None:
        if self._taken.get(slot.name, 0.0) > time.monotonic():
            return None
        for place in range(min(len(self.waiting), _AHEAD)):
            job = self._by_id[self.waiting[place]]
            if slot.takes(job):
                del self.waiting[place]
                attempt = self.courses[job.id].begin(slot.name, now)
                self._note(job.id)
                return Task(job, attempt, slot, self.folder)
        return None

    def _adopt(self) -> None:
        """Attempts that an earlier runner submitted to a cluster may still run, or may have ended meanwhile."""
        for course in self.courses.values():
            if not course.remote:
                continue
            slot = self._free.popleft() if self._free else replace(self.engine.slots()[0], name=course.slot)
            task = Task(self._by_id[course.id], course.attempts, slot, self.folder)
            if self.engine.adopt(task, course.remote):
                course.state = "running"
                self.running[task.key] = task
                continue
            self._free.appendleft(slot)
            course.close(self._found(task), task.job, self.jobs.run.interruptions)
            self._note(course.id)

    def _heed(self) -> None:
        """Handle cancel and retry requests from other terminals."""
        for job, wish in self.journal.wishes():
            course = self.courses.get(job)
            if course is None:
                continue
            if wish == "cancel" and course.state == "running":
                self.engine.end(f"{job}.{course.attempts}", "cancelled")
            elif wish == "cancel" and course.state == "waiting":
                course.cancel()
                if job in self.waiting:
                    self.waiting.remove(job)
            elif wish == "retry" and course.state in ("failed", "timed_out", "cancelled"):
                course.retry()
                self.waiting.append(job)
            self._note(job)

    def _interrupt(self) -> None:
        """End all running jobs and save the results so far. A second Ctrl-C does not wait."""
        for key in self.running:
            self.engine.end(key, "interrupted")
        grace = max((task.job.grace for task in self.running.values()), default=0.0)
        end = time.monotonic() + grace + 2
        self._stopped = MachineError("interrupted")
        while self.running and time.monotonic() < end:
            for event in self.engine.events(LOOK_EVERY):
                self._take(event)
        self._write()

    def _note(self, job: str) -> None:
        self._changed[job] = self.courses[job]

    def _write(self) -> None:
        if not self._changed:
            return
        try:
            self.journal.write(self._changed.values())
            self._changed.clear()
        except NoSpace as full:
            # Nothing is lost: the next run rebuilds the journal from the status files.
            self._stopped = full

    def _show(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if self.watch is not None and (last or now - self._shown >= SHOW_EVERY):
            self._shown = now
            self.watch(self)

    def report(self) -> JobsReport:
        """The current state of all jobs."""
        return report(self.jobs, self.folder, self.courses, [slot.name for slot in self.engine.slots()])
