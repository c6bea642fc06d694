"""The job state after each ending of an attempt."""

from __future__ import annotations

import pytest

from rocm3d.jobs.job_progress import JobProgress, signal_name
from rocm3d.jobs.specification import read_jobs
from rocm3d.jobs.status_files import Attempt


@pytest.fixture
def job(jobs_folder):
    return read_jobs(
        jobs_folder.write('[run]\nretries = 1\ntimeout = 5\n[[job]]\nid = "a"\ncommand = ["true"]\n')
    ).jobs[0]


def progress_after(job, *endings: str, kills: int = 2, **more: object) -> JobProgress:
    progress = JobProgress("a", job.digest)
    for number, ending in enumerate(endings, 1):
        progress.begin("cpu-1", 1.0)
        progress.close(Attempt(number, ending, job.digest, **more), job, kills)
    return progress


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
def test_state_after_endings(job, endings, state, counts):
    progress = progress_after(job, *endings)
    assert progress.state == state
    assert (progress.attempts, progress.failures, progress.interruptions) == counts


def test_an_attempt_of_another_command_counts_for_nothing(job):
    progress = JobProgress("a", job.digest)
    progress.close(Attempt(1, "done", "of-another"), job, 2)
    assert (progress.state, progress.attempts, progress.closed) == ("waiting", 1, 1)


def test_reason_texts(job):
    assert progress_after(job, "failed", code=3).reason == "exit code 3"
    assert progress_after(job, "failed", signal=11).reason == "ended by SIGSEGV"
    assert progress_after(job, "timed_out").reason == "stopped at the 5 s limit"
    assert "out of memory" in progress_after(job, *["killed"] * 3, signal=9).reason
    assert signal_name(63) == "signal 63"


def test_cancel_needs_a_waiting_job_and_retry_a_failed_one(job):
    done, bad = progress_after(job, "done"), progress_after(job, "failed", "failed")
    for progress in (done, bad):
        progress.cancel()
        progress.retry()
    assert (done.state, bad.state, bad.failures) == ("done", "waiting", 0)
    bad.cancel()
    assert bad.state == "cancelled"


def test_undo_begin(job):
    progress = JobProgress("a", job.digest)
    assert progress.begin("cpu-1", 1.0) == 1
    progress.undo_begin()
    assert (progress.state, progress.attempts) == ("waiting", 0)


@pytest.mark.parametrize(
    ("endings", "doubles"),
    [
        (["done"], []),
        ([""], []),
        (["failed", "done"], []),
        (["killed", "interrupted", "done"], []),
        (["", "done"], [(1, False)]),
        (["", "failed", ""], [(1, False)]),
        (["done", "done"], [(1, True)]),
        (["", "killed", "", "done"], [(1, False), (3, False)]),
    ],
)
def test_attempts_before_the_last_that_may_have_completed_are_doubles(job, endings, doubles):
    """A recorded failure or kill is no completion; an end that nobody recorded may be one."""
    progress = progress_after(job, *endings)
    assert [(item.attempt, item.completed) for item in progress.doubles] == doubles


def test_every_attempt_has_its_own_id(job):
    progress, ids = JobProgress("a", job.digest), set()
    for number in range(1, 50):
        progress.begin("cpu-1", 1.0)
        ids.add(progress.attempt_id)
        assert progress.attempt_id.startswith(f"a.{number}-")
    assert len(ids) == 49


def test_damaged_list_of_completions_is_empty(job):
    for text in ("", "x", "{}", "null"):
        assert JobProgress("a", job.digest, attempts=2, completions=text).doubles == ()
