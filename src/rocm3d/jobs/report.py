"""The document about the state of all jobs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rocm3d.model.jobs import JobsReport, JobState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rocm3d.jobs.course import Course
    from rocm3d.jobs.folder import RunFolder
    from rocm3d.jobs.specification import Jobs


def report(
    jobs: Jobs, folder: RunFolder, courses: Mapping[str, Course], slots: Sequence[str], notes: Sequence[str] = ()
) -> JobsReport:
    """Jobs in the order of jobs.toml."""
    now = time.time()
    return JobsReport(
        name=jobs.path.stem,
        folder=str(folder.root),
        engine=jobs.run.engine,
        runner=folder.runner(),
        slots=tuple(slots),
        notes=tuple(notes),
        seconds_left=seconds_left(courses.values(), len(slots), now),
        jobs=tuple(_state(courses[job.id], folder, now) for job in jobs.jobs if job.id in courses),
    )


def seconds_left(courses: Iterable[Course], slots: int, now: float) -> float | None:
    """Estimate from the mean duration of finished jobs; None before the first is done and after the last."""
    known = list(courses)
    done = [course.seconds for course in known if course.state == "done"]
    open_ = [entry for entry in known if entry.state in ("waiting", "running")]
    if not done or not open_ or not slots:
        return None
    mean = sum(done) / len(done)
    left = sum(max(mean - (now - entry.started), mean / 10) if entry.state == "running" else mean for entry in open_)
    return round(left / min(slots, len(open_)), 1)


def _state(course: Course, folder: RunFolder, now: float) -> JobState:
    seconds = now - course.started if course.state == "running" else course.seconds if course.attempts else None
    log = folder.log(course.id, course.attempts)
    return JobState(
        id=course.id,
        state=course.state,
        attempts=course.attempts,
        failures=course.failures,
        interruptions=course.interruptions,
        slot=course.slot,
        seconds=None if seconds is None else round(max(0.0, seconds), 3),
        code=course.code,
        reason=course.reason,
        log=str(log) if course.attempts else "",
    )
