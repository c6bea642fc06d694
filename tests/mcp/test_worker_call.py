"""Tool calls in worker processes: progress, errors and cancellation."""

from __future__ import annotations

import json
import signal

import anyio
import pytest
from processes import is_running
from waiting import DEADLINE, has_text

from rocm3d.mcp import worker_call
from rocm3d.model.errors import UserError


async def ignore_progress(*_):
    """Ignores progress."""


def call_worker(request, script=ignore_progress):
    return anyio.run(worker_call.call, request, script)


def test_worker_without_a_response_is_a_bug():
    with pytest.raises(
        worker_call.WorkerError, match=r"(?s)the worker ended with 1: .*No module named 'rocm3d.mcp.tools.nothing'"
    ):
        call_worker({"tool": "nothing", "arguments": {}, "options": {}})


def test_error_of_the_worker_is_raised():
    with pytest.raises(UserError) as refused:
        worker_call._unpack_response(
            {"failure": "it is gone", "hint": "look elsewhere"}, 0, worker_call._WorkerWatcher(print)
        )

    assert worker_call.error_text(refused.value) == "it is gone\nhint: look elsewhere"


def test_progress_grows_and_a_quiet_worker_is_reported(monkeypatch):
    heard = []
    watch = worker_call._WorkerWatcher(heard.append)
    watch.write(b'{"progress": 3, "message": "a.cu"}\n{"progress"')
    watch.write(b': 7, "message": "b.cu"}\nTraceback\n[1]\n')
    monkeypatch.setattr(worker_call, "QUIET", -1.0)
    watch.sample(0)

    assert [line["message"] for line in heard[:2]] == ["a.cu", "b.cu"]
    assert heard[2] == {"progress": 7.0, "message": "working, 0 s"}
    assert watch.tail == "Traceback\n[1]\n"


def test_worker_gets_sigint_and_is_then_killed(monkeypatch):
    sent = []
    monkeypatch.setattr(worker_call.os, "killpg", lambda *arguments: sent.append(arguments))
    watch = worker_call._WorkerWatcher(print)
    watch.stop.set()
    watch.sample(12345)
    watch.sample(12345)

    assert sent == [(12345, signal.SIGINT)]
    monkeypatch.setattr(worker_call, "GRACE", -1.0)
    with pytest.raises(worker_call._WorkerNotStoppedError):
        watch.sample(12345)


def test_reported_progress_never_decreases():
    messages = []

    async def script(progress, message):
        messages.append(progress)

    async def run():
        sending, receiving = anyio.create_memory_object_stream(8)
        with sending:
            for number in (5, 5, 2, 9):
                sending.send_nowait({"progress": number, "message": json.dumps(number)})
        await worker_call._report_progress(receiving, script)

    anyio.run(run)

    assert messages == sorted(set(messages))
    assert (messages[0], messages[-1]) == (5.0, 9.0)


def test_child_of_the_worker_ends_with_a_cancelled_call(work, example, tmp_path, monkeypatch):
    """The child has its own session, so signals to the worker do not reach it."""
    monkeypatch.setattr(worker_call, "GRACE", DEADLINE)
    target = example("splat-trainer")
    work("apply", path=str(target), plan_hash=work("plan", path=str(target), gpu="mi300x").plan_hash)
    program = target / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 3600\n")
    program.chmod(0o755)
    request = {
        "tool": "verify",
        "arguments": {"path": str(target), "level": ["import"], "python": str(program)},
        "options": {"allow_run": True},
    }

    async def run():
        with anyio.fail_after(DEADLINE):
            async with anyio.create_task_group() as group:
                group.start_soon(worker_call.call, request, ignore_progress)
                while not has_text(tmp_path / "pid"):
                    await anyio.sleep(0.05)
                assert is_running(int((tmp_path / "pid").read_text()))
                group.cancel_scope.cancel()

    anyio.run(run)

    assert not is_running(int((tmp_path / "pid").read_text()))
