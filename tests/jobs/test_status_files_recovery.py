"""Recovery of job progress: the status files take precedence over the journal."""

from __future__ import annotations

import fcntl
import json
import os

import pytest
from processes import Program
from waiting import wait_for_exit

from rocm3d.jobs.job_progress import JobProgress
from rocm3d.jobs.specification import read_jobs
from rocm3d.jobs.status_files import kill_leftovers, recover_progress

TEXT = '[run]\nretries = 1\n[[job]]\nid = "a"\ncommand = ["true"]\n'


@pytest.fixture
def job(jobs_folder):
    return read_jobs(jobs_folder.write(TEXT)).jobs[0]


@pytest.fixture
def recovered(job, tmp_path):
    folder = tmp_path / "status"
    folder.mkdir()

    def recover(known: JobProgress | None, **files: str | None) -> JobProgress:
        for name, ending in files.items():
            status = {"digest": job.digest, "ending": ending or "running", "code": 0}
            status_path = folder / f"a.{name[1:]}{'' if ending else '.running'}"
            status_path.write_text(json.dumps(status))
        return recover_progress([job], {"a": known} if known else {}, folder, 5)["a"]

    return recover


def test_new_job_is_waiting(recovered):
    assert recovered(None).state == "waiting"


def test_progress_is_rebuilt_from_the_files(recovered):
    progress = recovered(None, n1=None, n2="failed", n3="killed", n4="done")
    assert (progress.state, progress.attempts, progress.failures, progress.interruptions) == ("done", 4, 1, 2)


def test_attempt_running_when_the_runner_died_is_an_interruption(recovered, job):
    progress = recovered(JobProgress("a", job.digest, "running", attempts=1), n1=None)
    assert (progress.state, progress.attempts, progress.interruptions) == ("waiting", 1, 1)


def test_attempt_that_ended_after_the_runner_died_is_counted(recovered, job):
    assert recovered(JobProgress("a", job.digest, "running", attempts=1), n1="done").state == "done"


def test_attempt_that_never_started_is_not_an_interruption(recovered, job):
    progress = recovered(JobProgress("a", job.digest, "running", attempts=1))
    assert (progress.state, progress.attempts, progress.interruptions) == ("waiting", 0, 0)


def test_attempt_unknown_to_the_journal_is_counted(recovered, job):
    progress = recovered(JobProgress("a", job.digest, "waiting"), n1=None)
    assert (progress.attempts, progress.interruptions) == (1, 1)


def test_closed_attempts_are_not_counted_twice(recovered, job):
    known = JobProgress("a", job.digest, "waiting", attempts=2, closed=2, interruptions=2)
    progress = recovered(known, n1=None, n2=None)
    assert (progress.attempts, progress.interruptions) == (2, 2)


def test_retried_job_is_waiting_although_it_failed(recovered, job):
    assert recovered(JobProgress("a", job.digest, "waiting", attempts=1, closed=1), n1="failed").state == "waiting"


def test_changed_command_is_not_done(recovered):
    progress = recovered(JobProgress("a", "another", "done", attempts=3, closed=3), n3="done")
    assert (progress.state, progress.attempts) == ("waiting", 3)


def test_remote_attempt_is_left_to_its_engine(recovered, job):
    known = JobProgress("a", job.digest, "running", attempts=1, remote="17")
    assert recovered(known, n1="done") is known
    assert known.state == "running"


def test_leftover_processes_are_killed(tmp_path, job):
    def sleeping(attempt: str, *files: int) -> Program:
        env = {**os.environ, "ROCM3D_JOB": str(tmp_path / attempt)}
        return Program(["sleep", "3600"], env=env, pass_fds=files)

    status_path = tmp_path / "a.1.running"
    status_path.touch()
    progress = JobProgress("a", job.digest, "waiting", attempts=1, closed=1)
    with status_path.open() as file, sleeping("a.11") as other:
        fcntl.flock(file, fcntl.LOCK_EX)
        with sleeping("a.1", file.fileno()) as alive:
            file.close()

            assert kill_leftovers([progress], tmp_path) == []
            assert wait_for_exit(alive) < 0
            assert other.poll() is None
