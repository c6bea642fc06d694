"""Recovery of job progress: the status files take precedence over the journal."""

from __future__ import annotations

import fcntl
import json
import os

import pytest
from processes import Program
from waiting import wait_for_exit

from rocm3d.jobs.course import Course
from rocm3d.jobs.specification import read
from rocm3d.jobs.standing import leftovers, standing

TEXT = '[run]\nretries = 1\n[[job]]\nid = "a"\ncommand = ["true"]\n'


@pytest.fixture
def job(jobs_folder):
    return read(jobs_folder.write(TEXT)).jobs[0]


@pytest.fixture
def stands(job, tmp_path):
    folder = tmp_path / "status"
    folder.mkdir()

    def look(known: Course | None, **files: str | None) -> Course:
        for name, ending in files.items():
            said = {"digest": job.digest, "ending": ending or "running", "code": 0}
            place = folder / f"a.{name[1:]}{'' if ending else '.running'}"
            place.write_text(json.dumps(said))
        return standing([job], {"a": known} if known else {}, folder, 5)["a"]

    return look


def test_without_journal_and_files_it_waits(stands):
    assert stands(None).state == "waiting"


def test_a_journal_is_made_anew_from_the_files(stands):
    course = stands(None, n1=None, n2="failed", n3="killed", n4="done")
    assert (course.state, course.attempts, course.failures, course.interruptions) == ("done", 4, 1, 2)


def test_one_that_ran_when_the_runner_died_was_interrupted(stands, job):
    course = stands(Course("a", job.digest, "running", attempts=1), n1=None)
    assert (course.state, course.attempts, course.interruptions) == ("waiting", 1, 1)


def test_one_that_ended_after_the_runner_died_has_ended(stands, job):
    assert stands(Course("a", job.digest, "running", attempts=1), n1="done").state == "done"


def test_one_that_never_began_was_not_interrupted(stands, job):
    course = stands(Course("a", job.digest, "running", attempts=1))
    assert (course.state, course.attempts, course.interruptions) == ("waiting", 0, 0)


def test_one_that_began_before_the_journal_heard_of_it_is_counted(stands, job):
    course = stands(Course("a", job.digest, "waiting"), n1=None)
    assert (course.attempts, course.interruptions) == (1, 1)


def test_what_is_accounted_for_is_not_counted_twice(stands, job):
    known = Course("a", job.digest, "waiting", attempts=2, closed=2, interruptions=2)
    course = stands(known, n1=None, n2=None)
    assert (course.attempts, course.interruptions) == (2, 2)


def test_one_that_was_asked_for_again_waits_although_it_failed(stands, job):
    assert stands(Course("a", job.digest, "waiting", attempts=1, closed=1), n1="failed").state == "waiting"


def test_another_command_under_the_same_name_is_not_done(stands):
    course = stands(Course("a", "another", "done", attempts=3, closed=3), n3="done")
    assert (course.state, course.attempts) == ("waiting", 3)


def test_what_an_engine_elsewhere_has_is_left_to_it(stands, job):
    known = Course("a", job.digest, "running", attempts=1, remote="17")
    assert stands(known, n1="done") is known
    assert known.state == "running"


def test_what_still_lives_is_ended_before_it_is_repeated(tmp_path, job):
    def sleeping(attempt: str, *files: int) -> Program:
        env = {**os.environ, "ROCM3D_JOB": str(tmp_path / attempt)}
        return Program(["sleep", "3600"], env=env, pass_fds=files)

    place = tmp_path / "a.1.running"
    place.touch()
    course = Course("a", job.digest, "waiting", attempts=1, closed=1)
    with place.open() as file, sleeping("a.11") as other:
        fcntl.flock(file, fcntl.LOCK_EX)
        with sleeping("a.1", file.fileno()) as alive:
            file.close()

            assert leftovers([course], tmp_path) == []
            assert wait_for_exit(alive) < 0
            assert other.poll() is None
