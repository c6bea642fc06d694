"""The runner with a scripted engine: errors on start, retries, and requests from other terminals."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace

import pytest

from rocm3d.jobs.course import Course
from rocm3d.jobs.engine import Event
from rocm3d.jobs.folder import NoSpace, run_folder
from rocm3d.jobs.journal import Journal
from rocm3d.jobs.runner import Runner
from rocm3d.jobs.slots import on_processor
from rocm3d.jobs.specification import read
from rocm3d.jobs.status_files import Attempt
from rocm3d.model.failure import MachineError


class Scripted:
    """An engine whose attempts end as scripted, one per call of `events`."""

    name = "scripted"

    def __init__(self, **endings: list[str]) -> None:
        self.endings, self.open, self.asked = endings, [], []

    def slots(self):
        return on_processor(2)

    def start(self, tasks):
        self.open += tasks

    def adopt(self, task, remote):
        self.open.append(task)
        return remote == "known"

    def end(self, key, why):
        self.asked.append((key, why))

    def events(self, seconds):
        if not self.open:
            return []
        task = self.open.pop(0)
        ending = self.endings[task.job.id].pop(0)
        if ending == "lost":
            task.folder.status(task.job.id, task.attempt).with_name(f"{task.key}.running").touch()
        if ending in ("busy", "lost", "unbegun"):
            return [Event(task.key, ending.replace("unbegun", "lost"))]
        if ending in ("full", "refused"):
            return [Event(task.key, "refused", text="its files: no", full=ending == "full")]
        return [Event(task.key, "over", Attempt(task.attempt, ending, code=0))]


@pytest.fixture
def run(jobs_folder):
    def go(engine: Scripted, *wishes: tuple[str, str], courses: dict[str, Course] | None = None) -> dict[str, Course]:
        names = list(engine.endings)
        jobs = read(
            jobs_folder.write(f'[run]\nretries = 1\n[[job]]\nid = "{{}}"\neach = {names}\ncommand = ["true"]\n')
        )
        folder = run_folder(jobs.path, None)
        found = courses or {job.id: Course(job.id, job.digest) for job in jobs.jobs}
        with closing(Journal(folder.journal)) as journal:
            for job, wish in wishes:
                journal.wish(wish, [job])
            go.courses = found
            Runner(jobs, folder, journal, found, engine).run()
            kept = journal.courses()
            assert all(kept[name].state == course.state for name, course in found.items() if name in kept)
        return found

    return go


def test_a_full_disk_stops_what_has_not_begun(run):
    engine = Scripted(a=["full"], b=["done"], c=["done"])
    with pytest.raises(NoSpace, match="no further job is started"):
        run(engine)
    assert [course.state for course in run.courses.values()] == ["waiting", "done", "waiting"]
    assert run.courses["a"].attempts == 0


def test_no_room_is_seen_before_anything_begins(run, monkeypatch):
    monkeypatch.setattr("rocm3d.jobs.runner.shutil", SimpleNamespace(disk_usage=lambda _: SimpleNamespace(free=9)))
    with pytest.raises(NoSpace):
        run(Scripted(a=[], b=[]))
    assert {course.attempts for course in run.courses.values()} == {0}


def test_what_cannot_be_started_for_another_reason_is_told(run):
    with pytest.raises(MachineError, match="job a cannot be started: its files: no"):
        run(Scripted(a=["refused"]))


def test_a_journal_without_room_does_not_lose_what_has_ended(run, monkeypatch):
    monkeypatch.setattr(Journal, "write", lambda *_: (_ for _ in ()).throw(NoSpace("here")))
    with pytest.raises(NoSpace):
        run(Scripted(a=["done"]))
    assert run.courses["a"].state == "done"


def test_a_gpu_that_is_taken_is_tried_again(run):
    courses = run(Scripted(a=["busy", "busy", "done"]))
    assert (courses["a"].state, courses["a"].attempts) == ("done", 1)


def test_what_fails_is_repeated_as_often_as_asked_for(run):
    courses = run(Scripted(a=["failed", "failed"], b=["failed", "done"]))
    assert [course.state for course in courses.values()] == ["failed", "done"]


def test_what_is_lost_was_interrupted_unless_it_never_began(run):
    courses = run(Scripted(a=["lost", "done"], b=["unbegun", "done"]))
    assert [(course.state, course.attempts, course.interruptions) for course in courses.values()] == [
        ("done", 2, 1),
        ("done", 1, 0),
    ]


def test_wishes_are_heeded_before_anything_begins(run):
    courses = run(Scripted(a=[], b=["done"]), ("a", "cancel"), ("nobody", "cancel"))
    assert [course.state for course in courses.values()] == ["cancelled", "done"]
    courses = run(Scripted(a=["done"]), ("a", "cancel"), ("a", "retry"))
    assert courses["a"].state == "done"


def test_what_an_engine_elsewhere_still_has_is_taken_over(run):
    courses = {"a": Course("a", "", "running", attempts=3, closed=2, remote="known")}
    assert run(Scripted(a=["done"]), courses=courses)["a"].attempts == 3


def test_more_than_there_are_places_are_taken_over_all_the_same(run):
    names = ("a", "b", "c")
    courses = {name: Course(name, "", "running", attempts=1, remote="known") for name in names}
    found = run(Scripted(a=["done"], b=["done"], c=["done"]), courses=courses)
    assert {course.state for course in found.values()} == {"done"}


def test_what_an_engine_elsewhere_does_not_have_any_more_is_repeated(run):
    courses = {"a": Course("a", "", "running", attempts=3, closed=2, remote="gone")}
    engine = Scripted(a=["done", "done"])
    engine.adopt = lambda task, remote: False
    assert run(engine, courses=courses)["a"].interruptions == 1
