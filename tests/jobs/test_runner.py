"""The runner with a scripted engine: errors on start, retries, and requests from other terminals."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace

import pytest

from rocm3d.jobs.engine import AttemptEvent
from rocm3d.jobs.folder import DiskFullError, run_folder
from rocm3d.jobs.job_progress import JobProgress
from rocm3d.jobs.journal import JobJournal
from rocm3d.jobs.runner import JobRunner
from rocm3d.jobs.slots import cpu_slots
from rocm3d.jobs.specification import read_jobs
from rocm3d.jobs.status_files import Attempt
from rocm3d.model.errors import MachineError


class ScriptedEngine:
    """An engine whose attempts end as scripted, one per call of `events`."""

    name = "scripted"

    def __init__(self, **endings: list[str]) -> None:
        self.endings, self.open, self.stopped = endings, [], []

    def slots(self):
        return cpu_slots(2)

    def start(self, tasks):
        self.open += tasks

    def adopt(self, task, remote):
        self.open.append(task)
        return remote == "known"

    def stop(self, key, why):
        self.stopped.append((key, why))

    def events(self, seconds):
        if not self.open:
            return []
        task = self.open.pop(0)
        ending = self.endings[task.job.id].pop(0)
        if ending == "lost":
            task.folder.status(task.job.id, task.attempt).with_name(f"{task.key}.running").touch()
        if ending in ("busy", "lost", "unbegun"):
            return [AttemptEvent(task.key, ending.replace("unbegun", "lost"))]
        if ending in ("full", "refused"):
            return [AttemptEvent(task.key, "refused", text="its files: no", full=ending == "full")]
        return [AttemptEvent(task.key, "over", Attempt(task.attempt, ending, code=0))]


@pytest.fixture
def run(jobs_folder):
    def run_jobs(
        engine: ScriptedEngine, *requests: tuple[str, str], progress: dict[str, JobProgress] | None = None
    ) -> dict[str, JobProgress]:
        names = list(engine.endings)
        jobs = read_jobs(
            jobs_folder.write(f'[run]\nretries = 1\n[[job]]\nid = "{{}}"\neach = {names}\ncommand = ["true"]\n')
        )
        folder = run_folder(jobs.path, None)
        result = progress or {job.id: JobProgress(job.id, job.digest) for job in jobs.jobs}
        with closing(JobJournal(folder.journal)) as journal:
            for job, action in requests:
                journal.request(action, [job])
            run_jobs.progress = result
            JobRunner(jobs, folder, journal, result, engine).run()
            stored = journal.progress()
            assert all(stored[name].state == entry.state for name, entry in result.items() if name in stored)
        return result

    return run_jobs


def test_full_disk_stops_waiting_jobs(run):
    engine = ScriptedEngine(a=["full"], b=["done"], c=["done"])
    with pytest.raises(DiskFullError, match="no further job is started"):
        run(engine)
    assert [job.state for job in run.progress.values()] == ["waiting", "done", "waiting"]
    assert run.progress["a"].attempts == 0


def test_full_disk_is_detected_before_the_first_start(run, monkeypatch):
    monkeypatch.setattr("rocm3d.jobs.runner.shutil", SimpleNamespace(disk_usage=lambda _: SimpleNamespace(free=9)))
    with pytest.raises(DiskFullError):
        run(ScriptedEngine(a=[], b=[]))
    assert {job.attempts for job in run.progress.values()} == {0}


def test_refused_start_is_a_machine_error(run):
    with pytest.raises(MachineError, match="job a cannot be started: its files: no"):
        run(ScriptedEngine(a=["refused"]))


def test_full_journal_does_not_lose_results(run, monkeypatch):
    monkeypatch.setattr(JobJournal, "write", lambda *_: (_ for _ in ()).throw(DiskFullError("here")))
    with pytest.raises(DiskFullError):
        run(ScriptedEngine(a=["done"]))
    assert run.progress["a"].state == "done"


def test_busy_gpu_is_tried_again(run):
    progress = run(ScriptedEngine(a=["busy", "busy", "done"]))
    assert (progress["a"].state, progress["a"].attempts) == ("done", 1)


def test_failed_jobs_are_retried(run):
    progress = run(ScriptedEngine(a=["failed", "failed"], b=["failed", "done"]))
    assert [job.state for job in progress.values()] == ["failed", "done"]


def test_lost_attempt_is_an_interruption_unless_it_never_started(run):
    progress = run(ScriptedEngine(a=["lost", "done"], b=["unbegun", "done"]))
    assert [(job.state, job.attempts, job.interruptions) for job in progress.values()] == [
        ("done", 2, 1),
        ("done", 1, 0),
    ]


def test_requests_are_handled_before_the_first_start(run):
    progress = run(ScriptedEngine(a=[], b=["done"]), ("a", "cancel"), ("nobody", "cancel"))
    assert [job.state for job in progress.values()] == ["cancelled", "done"]
    progress = run(ScriptedEngine(a=["done"]), ("a", "cancel"), ("a", "retry"))
    assert progress["a"].state == "done"


def test_remote_attempt_is_adopted(run):
    progress = {"a": JobProgress("a", "", "running", attempts=3, closed=2, remote="known")}
    assert run(ScriptedEngine(a=["done"]), progress=progress)["a"].attempts == 3


def test_more_remote_attempts_than_slots_are_adopted(run):
    names = ("a", "b", "c")
    progress = {name: JobProgress(name, "", "running", attempts=1, remote="known") for name in names}
    result = run(ScriptedEngine(a=["done"], b=["done"], c=["done"]), progress=progress)
    assert {job.state for job in result.values()} == {"done"}


def test_vanished_remote_attempt_is_repeated(run):
    progress = {"a": JobProgress("a", "", "running", attempts=3, closed=2, remote="gone")}
    engine = ScriptedEngine(a=["done", "done"])
    engine.adopt = lambda task, remote: False
    assert run(engine, progress=progress)["a"].interruptions == 1
