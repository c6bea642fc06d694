"""Tool calls in worker processes: progress, errors and cancellation."""

from __future__ import annotations

import json
import signal

import anyio
import pytest
from processes import is_running
from waiting import DEADLINE, has_text

from rocm3d.mcp import job
from rocm3d.model.failure import UserError


async def nobody(*_):
    """Ignores progress."""


def called(request, tell=nobody):
    return anyio.run(job.call, request, tell)


def test_a_worker_that_ends_without_an_answer_is_a_bug():
    with pytest.raises(job.Bug, match=r"(?s)the worker ended with 1: .*No module named 'rocm3d.mcp.tools.nothing'"):
        called({"tool": "nothing", "arguments": {}, "options": {}})


def test_a_failure_of_the_worker_is_one_here():
    with pytest.raises(UserError) as refused:
        job._judged({"failure": "it is gone", "hint": "look elsewhere"}, 0, job._Watch(print))

    assert job.told(refused.value) == "it is gone\nhint: look elsewhere"


def test_progress_grows_and_a_quiet_worker_is_heard_of(monkeypatch):
    heard = []
    watch = job._Watch(heard.append)
    watch.write(b'{"progress": 3, "message": "a.cu"}\n{"progress"')
    watch.write(b': 7, "message": "b.cu"}\nTraceback\n[1]\n')
    monkeypatch.setattr(job, "QUIET", -1.0)
    watch.look(0)

    assert [line["message"] for line in heard[:2]] == ["a.cu", "b.cu"]
    assert heard[2] == {"progress": 7.0, "message": "working, 0 s"}
    assert watch.tail == "Traceback\n[1]\n"


def test_a_worker_is_asked_to_end_and_then_killed(monkeypatch):
    sent = []
    monkeypatch.setattr(job.os, "killpg", lambda *given: sent.append(given))
    watch = job._Watch(print)
    watch.stop.set()
    watch.look(12345)
    watch.look(12345)

    assert sent == [(12345, signal.SIGINT)]
    monkeypatch.setattr(job, "GRACE", -1.0)
    with pytest.raises(job._Ended):
        watch.look(12345)


def test_numbers_told_never_fall():
    told = []

    async def tell(progress, message):
        told.append(progress)

    async def run():
        sending, receiving = anyio.create_memory_object_stream(8)
        with sending:
            for number in (5, 5, 2, 9):
                sending.send_nowait({"progress": number, "message": json.dumps(number)})
        await job._tell_all(receiving, tell)

    anyio.run(run)

    assert told == sorted(set(told))
    assert (told[0], told[-1]) == (5.0, 9.0)


def test_a_program_that_the_worker_started_ends_with_a_call_that_is_cancelled(work, example, tmp_path, monkeypatch):
    """The child has its own session, so signals to the worker do not reach it."""
    monkeypatch.setattr(job, "GRACE", DEADLINE)
    target = example("splat-trainer")
    work("apply", path=str(target), plan_hash=work("plan", path=str(target), gpu="mi300x").plan_hash)
    program = target / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 3600\n")
    program.chmod(0o755)
    request = {
        "tool": "verify",
        "arguments": {"path": str(target), "level": ["import"]},
        "options": {"allow_run": True},
    }

    async def run():
        with anyio.fail_after(DEADLINE):
            async with anyio.create_task_group() as group:
                group.start_soon(job.call, request, nobody)
                while not has_text(tmp_path / "pid"):
                    await anyio.sleep(0.05)
                assert is_running(int((tmp_path / "pid").read_text()))
                group.cancel_scope.cancel()

    anyio.run(run)

    assert not is_running(int((tmp_path / "pid").read_text()))
