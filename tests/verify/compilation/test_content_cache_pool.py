from __future__ import annotations

import threading

import pytest
from processes import is_running
from waiting import DEADLINE, wait_for_file

from rocm3d.model.verdict import CompileResult
from rocm3d.verify.compilation import content_cache
from rocm3d.verify.compilation.compile_side import CacheableResult
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


def test_an_interrupted_run_ends_its_compilers(cache, tmp_path, monkeypatch):
    """One job raises as Ctrl-C does; the program of the other must not be waited for."""
    monkeypatch.setattr(content_cache, "cores", lambda: 2)
    pid = tmp_path / "pid"

    def long() -> CacheableResult:
        run(["sh", "-c", f"echo $$ > {pid}; exec sleep 3600"], seconds=DEADLINE)
        return CacheableResult(side(), ())

    def interrupted() -> CacheableResult:
        wait_for_file(pid)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        content_cache.compile_all(
            {"a": content_cache.CompileJob("a", interrupted), "b": content_cache.CompileJob("b", long)},
            cache,
            lambda *_: None,
        )
    assert not is_running(int(pid.read_text()))


def test_a_timeout_is_not_cached(cache):
    calls = []

    def late() -> CacheableResult:
        calls.append(1)
        return CacheableResult(side("timed_out"), ())

    for _ in range(2):
        content_cache.compile_all({"a": content_cache.CompileJob("k", late)}, cache, lambda *_: None)
    assert len(calls) == 2


def test_a_result_that_is_not_final_is_not_cached(cache):
    calls = []

    def speechless() -> CacheableResult:
        calls.append(1)
        return CacheableResult(side("failed"), (), is_final=False)

    for _ in range(2):
        content_cache.compile_all({"a": content_cache.CompileJob("k", speechless)}, cache, lambda *_: None)
    assert len(calls) == 2


def test_after_an_interrupt_queued_jobs_do_not_start_and_ended_ones_are_not_cached(cache, monkeypatch):
    monkeypatch.setattr(content_cache, "cores", lambda: 2)
    began = threading.Event()

    def interrupted() -> CacheableResult:
        assert began.wait(DEADLINE)
        raise KeyboardInterrupt

    def ended() -> CacheableResult:
        began.set()
        run(["sleep", "3600"], seconds=DEADLINE)
        return CacheableResult(side("failed"), ())

    jobs = {"a": content_cache.CompileJob("a", interrupted), "b": content_cache.CompileJob("b", ended)}
    jobs |= {f"never {number}": content_cache.CompileJob("c", ended) for number in range(8)}
    with pytest.raises(KeyboardInterrupt):
        content_cache.compile_all(jobs, cache, lambda *_: None)
    assert cache.find("b") is None


def test_cached_results_are_not_compiled_again(cache):
    calls = []

    def once() -> CacheableResult:
        calls.append(1)
        return CacheableResult(side(), ())

    reported = []
    for _ in range(2):
        assert content_cache.compile_all(
            {"a": content_cache.CompileJob("k", once)}, cache, lambda *item: reported.append(item)
        ) == {"a": side()}
    assert len(calls) == 1
    assert reported == [("a", side())] * 2


def test_all_cores_work(cache, monkeypatch):
    """As many jobs run at the same time as there are cores."""
    monkeypatch.setattr(content_cache, "cores", lambda: 3)
    meeting = threading.Barrier(3, timeout=DEADLINE)

    def waits() -> CacheableResult:
        meeting.wait()
        return CacheableResult(side(), ())

    results = content_cache.compile_all(
        {n: content_cache.CompileJob(str(n), waits) for n in range(3)}, cache, lambda *_: None
    )

    assert len(results) == 3
    assert content_cache.cores() == 3
