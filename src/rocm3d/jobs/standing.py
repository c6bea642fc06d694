"""Recovers the progress of every job from the journal and the status files; the status files take precedence."""

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
    """Progress by job id, in the order of jobs.toml. Attempts that the journal does not count yet come from files."""
    there = status_files.attempts(folder)
    found = {}
    for job in jobs:
        mine, course = there.get(job.id, {}), known.get(job.id)
        if course is None:
            course = Course(job.id, job.digest)
        elif course.digest != job.digest:
            # The command has changed: earlier attempts do not count.
            course = Course(job.id, job.digest, attempts=course.attempts, closed=max(mine, default=course.attempts))
        _replay(course, job, mine, folder, kills)
        found[job.id] = course
    return found


def _replay(course: Course, job: Job, mine: dict[int, str], folder: Path, kills: int) -> None:
    if course.remote:
        return  # still on a cluster, whose engine has the current state
    for number in range(course.closed + 1, max([course.attempts, *mine]) + 1):
        # An attempt of the journal without a status file never started.
        said = status_files.read(folder, number, mine[number]) if number in mine else None
        if said is not None:
            course.close(said, job, kills)
    course.attempts = course.closed = max([course.closed, *mine])
    if course.state == "running":
        course.state = "waiting"


def leftovers(courses: Iterable[Course], folder: Path) -> list[str]:
    """Kill processes of interrupted attempts; returns the ids of jobs whose processes are still alive afterwards."""
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
    """Kill the processes of these attempts, found by the status file that their environment names."""
    marks = {_MARK + os.fsencode(place) for place in places}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if not marks.isdisjoint((entry / "environ").read_bytes().split(b"\0")):
                    os.kill(int(entry.name), signal.SIGKILL)
