from __future__ import annotations

import threading

import pytest
from processes import is_running
from waiting import DEADLINE, wait_for_file

from rocm3d.model.compilation import CompileResult
from rocm3d.verify.compilation import pool
from rocm3d.verify.compilation.compile_side import Done
from rocm3d.verify.compilation.content_cache import ContentCache
from rocm3d.workspace.process import run
from rocm3d.workspace.result_cache import ResultCache

# A program that is not ended keeps the call from coming back.
pytestmark = pytest.mark.timeout(DEADLINE)


def side(outcome="compiled"):
    return CompileResult(side="gfx942", outcome=outcome)


@pytest.fixture
def cache(tmp_path):
    return ContentCache(ResultCache(tmp_path / "c.sqlite"), tmp_path, ())


def test_an_interrupted_run_ends_what_it_started(cache, tmp_path, monkeypatch):
    """One job raises as Ctrl-C does; the program of the other must not be waited for."""
    monkeypatch.setattr(pool, "cores", lambda: 2)
    pid = tmp_path / "pid"

    def long() -> Done:
        run(["sh", "-c", f"echo $$ > {pid}; exec sleep 3600"], seconds=DEADLINE)
        return Done(side(), ())

    def interrupted() -> Done:
        wait_for_file(pid)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pool.compile_all({"a": pool.Job("a", interrupted), "b": pool.Job("b", long)}, cache, lambda *_: None)
    assert not is_running(int(pid.read_text()))


def test_a_time_out_is_not_remembered(cache):
    made = []

    def late() -> Done:
        made.append(1)
        return Done(side("timed_out"), ())

    for _ in range(2):
        pool.compile_all({"a": pool.Job("k", late)}, cache, lambda *_: None)
    assert len(made) == 2


def test_what_a_killed_compiler_left_is_not_remembered(cache):
    made = []

    def speechless() -> Done:
        made.append(1)
        return Done(side("failed"), (), is_final=False)

    for _ in range(2):
        pool.compile_all({"a": pool.Job("k", speechless)}, cache, lambda *_: None)
    assert len(made) == 2


def test_interrupted_it_waits_for_no_job_that_never_began_and_remembers_none_that_it_ended(cache, monkeypatch):
    monkeypatch.setattr(pool, "cores", lambda: 2)
    began = threading.Event()

    def interrupted() -> Done:
        assert began.wait(DEADLINE)
        raise KeyboardInterrupt

    def ended() -> Done:
        began.set()
        run(["sleep", "3600"], seconds=DEADLINE)
        return Done(side("failed"), ())

    jobs = {"a": pool.Job("a", interrupted), "b": pool.Job("b", ended)}
    jobs |= {f"never {number}": pool.Job("c", ended) for number in range(8)}
    with pytest.raises(KeyboardInterrupt):
        pool.compile_all(jobs, cache, lambda *_: None)
    assert cache.find("b") is None


def test_what_is_known_is_not_made_again(cache):
    made = []

    def once() -> Done:
        made.append(1)
        return Done(side(), ())

    told = []
    for _ in range(2):
        assert pool.compile_all({"a": pool.Job("k", once)}, cache, lambda *item: told.append(item)) == {"a": side()}
    assert len(made) == 1
    assert told == [("a", side())] * 2


def test_all_cores_work(cache, monkeypatch):
    """As many jobs run at the same time as there are cores."""
    monkeypatch.setattr(pool, "cores", lambda: 3)
    meeting = threading.Barrier(3, timeout=DEADLINE)

    def waits() -> Done:
        meeting.wait()
        return Done(side(), ())

    found = pool.compile_all({n: pool.Job(str(n), waits) for n in range(3)}, cache, lambda *_: None)

    assert len(found) == 3
    assert pool.cores() == 3
