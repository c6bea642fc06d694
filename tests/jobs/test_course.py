"""The job state after each ending of an attempt."""

from __future__ import annotations

import pytest

from rocm3d.jobs.course import Course, name_of
from rocm3d.jobs.specification import read
from rocm3d.jobs.status_files import Attempt


@pytest.fixture
def job(jobs_folder):
    return read(jobs_folder.write('[run]\nretries = 1\ntimeout = 5\n[[job]]\nid = "a"\ncommand = ["true"]\n')).jobs[0]


def after(job, *endings: str, kills: int = 2, **more: object) -> Course:
    course = Course("a", job.digest)
    for number, ending in enumerate(endings, 1):
        course.begin("cpu-1", 1.0)
        course.close(Attempt(number, ending, job.digest, **more), job, kills)
    return course


@pytest.mark.parametrize(
    ("endings", "state", "counts"),
    [
        (["done"], "done", (1, 0, 0)),
        (["failed"], "waiting", (1, 1, 0)),
        (["failed", "done"], "done", (2, 1, 0)),
        (["failed", "failed"], "failed", (2, 2, 0)),
        (["failed", "timed_out"], "timed_out", (2, 2, 0)),
        ([""], "waiting", (1, 0, 1)),
        (["interrupted"] * 9, "waiting", (9, 0, 9)),
        (["killed", "killed"], "waiting", (2, 0, 2)),
        (["killed", "killed", "killed"], "failed", (3, 0, 3)),
        (["cancelled"], "cancelled", (1, 0, 0)),
    ],
)
def test_endings_lead_to(job, endings, state, counts):
    course = after(job, *endings)
    assert course.state == state
    assert (course.attempts, course.failures, course.interruptions) == counts


def test_an_attempt_of_another_command_counts_for_nothing(job):
    course = Course("a", job.digest)
    course.close(Attempt(1, "done", "of-another"), job, 2)
    assert (course.state, course.attempts, course.closed) == ("waiting", 1, 1)


def test_reasons_say_what_happened(job):
    assert after(job, "failed", code=3).reason == "exit code 3"
    assert after(job, "failed", signal=11).reason == "ended by SIGSEGV"
    assert after(job, "timed_out").reason == "stopped at the 5 s limit"
    assert "out of memory" in after(job, *["killed"] * 3, signal=9).reason
    assert name_of(63) == "signal 63"


def test_only_what_waits_is_cancelled_and_only_what_ended_badly_is_asked_for_again(job):
    done, bad = after(job, "done"), after(job, "failed", "failed")
    for course in (done, bad):
        course.cancel()
        course.retry()
    assert (done.state, bad.state, bad.failures) == ("done", "waiting", 0)
    bad.cancel()
    assert bad.state == "cancelled"


def test_an_attempt_that_never_came_about_is_taken_back(job):
    course = Course("a", job.digest)
    assert course.begin("cpu-1", 1.0) == 1
    course.take_back()
    assert (course.state, course.attempts) == ("waiting", 0)
