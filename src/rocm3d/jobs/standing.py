"""Where every job stands, from the journal and the status files together; the status files are right."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.jobs import status_files
from rocm3d.jobs.course import Course

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocm3d.jobs.specification import Job

_MARK = b"ROCM3D_JOB="
_PATIENCE = 5.0


def standing(jobs: Iterable[Job], known: Mapping[str, Course], folder: Path, kills: int) -> dict[str, Course]:
    """Every job of the file in its order. Attempts that the journal has not heard the end of are looked up."""
    there = status_files.attempts(folder)
    found = {}
    for job in jobs:
        mine, course = there.get(job.id, {}), known.get(job.id)
        if course is None:
            course = Course(job.id, job.digest)
        elif course.digest != job.digest:
            # Another command under an old name: what that one did does not count.
            course = Course(job.id, job.digest, attempts=course.attempts, closed=max(mine, default=course.attempts))
        _replay(course, job, mine, folder, kills)
        found[job.id] = course
    return found


def _replay(course: Course, job: Job, mine: dict[int, str], folder: Path, kills: int) -> None:
    if course.remote:
        return  # an engine elsewhere still has it, and knows more than we do
    for number in range(course.closed + 1, max([course.attempts, *mine]) + 1):
        # One that the journal knows and that left no file never began.
        said = status_files.read(folder, number, mine[number]) if number in mine else None
        if said is not None:
            course.close(said, job, kills)
    course.attempts = course.closed = max([course.closed, *mine])
    if course.state == "running":
        course.state = "waiting"


def leftovers(courses: Iterable[Course], folder: Path) -> list[str]:
    """Jobs of which something still lives although nobody waits for it, after an attempt to end it."""
    there = status_files.attempts(folder)
    last = {
        course.id: there[course.id][course.attempts]
        for course in courses
        if course.state == "waiting" and course.attempts in there.get(course.id, {})
    }
    alive = {job: name for job, name in last.items() if status_files.is_alive(folder, name)}
    end = time.monotonic() + _PATIENCE
    while alive and time.monotonic() < end:
        _kill({str(folder / name.removesuffix(".running")) for name in alive.values()})
        time.sleep(0.05)
        alive = {job: name for job, name in alive.items() if status_files.is_alive(folder, name)}
    return sorted(alive)


def _kill(places: set[str]) -> None:
    """Processes of these attempts: their environment names the file of their status."""
    marks = {_MARK + os.fsencode(place) for place in places}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if not marks.isdisjoint((entry / "environ").read_bytes().split(b"\0")):
                    os.kill(int(entry.name), signal.SIGKILL)
