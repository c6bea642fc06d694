"""Runs one tool call in a worker process, forwards its progress, and kills it when the caller cancels.

Nothing blocks the event loop: a thread waits for the worker and forwards lines of progress.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream

from rocm3d.mcp.worker import REQUEST, RESPONSE
from rocm3d.model.errors import Rocm3dError, UserError
from rocm3d.workspace.process import guarded_scratch_folder, run_watched

ReportProgress = Callable[[float, str], Awaitable[None]]
# Time limit of a call in seconds; compiling a repository takes minutes.
TIME_LIMIT = 2 * 3600.0
# Seconds from SIGINT to SIGKILL; a worker inside a parser reacts late.
GRACE = 3.0
# Seconds without progress after which a message is sent to the caller.
QUIET = 2.0
_QUEUE_SIZE = 64


class WorkerError(Exception):
    """The worker ended without a response, or crashed because of a bug in rocm3d."""


class _WorkerNotStoppedError(Exception):
    """The call was cancelled and the worker did not stop in time."""


async def call(request: dict[str, Any], report: ReportProgress) -> dict[str, Any]:
    """The response of a worker. If the call is cancelled, it returns after the worker and its children have ended."""
    loop, done = asyncio.get_running_loop(), anyio.Event()
    sending, receiving = anyio.create_memory_object_stream[dict[str, Any]](_QUEUE_SIZE)

    def enqueue(line: dict[str, Any]) -> None:
        # A slow reader misses lines; the worker never waits for it.
        with contextlib.suppress(anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            sending.send_nowait(line)

    watcher = _WorkerWatcher(lambda line: _call_soon(loop, partial(enqueue, line)))
    work = partial(_run_worker, request, watcher, lambda: _call_soon(loop, done.set))
    async with anyio.create_task_group() as group:
        group.start_soon(_report_progress, receiving, report)
        try:
            result = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            watcher.stop.set()
            with anyio.CancelScope(shield=True), anyio.move_on_after(2 * GRACE):
                await done.wait()
            raise
        finally:
            sending.close()
    # Outside the task group, which would wrap exceptions.
    return _unpack_response(*result, watcher)


def _call_soon(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    # The loop may be closed when the last line arrives.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(callback)


async def _report_progress(lines: MemoryObjectReceiveStream[dict[str, Any]], report: ReportProgress) -> None:
    """Report progress to the caller. The protocol requires increasing values."""
    reported = 0.0
    async with lines:
        async for line in lines:
            reported = max(reported + 0.001, float(line["progress"]))
            await report(reported, str(line["message"]))


def _run_worker(
    request: dict[str, Any], watcher: _WorkerWatcher, done: Callable[[], None]
) -> tuple[dict[str, Any] | None, int | None]:
    """In a thread: run a worker. Returns its response, if there is one, and its exit code."""
    try:
        # The working folder of the worker: no module of a repository can be imported from there.
        # If the server is killed, the cleanup helper removes the folder and kills the worker.
        with guarded_scratch_folder() as folder:
            (folder / REQUEST).write_text(json.dumps(request), encoding="utf-8")
            command = (sys.executable, "-m", "rocm3d.mcp.worker", str(folder))
            code = run_watched(command, watcher, cwd=folder, env=os.environ, seconds=TIME_LIMIT)
            response_path = folder / RESPONSE
            return (json.loads(response_path.read_bytes()) if response_path.is_file() else None), code
    except _WorkerNotStoppedError:
        return None, None
    finally:
        done()


def _unpack_response(response: dict[str, Any] | None, code: int | None, watcher: _WorkerWatcher) -> dict[str, Any]:
    if response is None:
        raise WorkerError("the call timed out" if code is None else f"the worker ended with {code}: {watcher.tail}")
    if "failure" in response:
        raise UserError(response["failure"], hint=response["hint"])
    if "bug" in response:
        raise WorkerError(response["bug"])
    result: dict[str, Any] = response["answer"]
    return result


class _WorkerWatcher:
    """Watches a worker: forwards its progress, reports that it is still working, and stops it."""

    def __init__(self, forward: Callable[[dict[str, Any]], None]) -> None:
        self.forward, self.stop = forward, threading.Event()
        self.partial_line, self.tail, self.count = b"", "", 0.0
        self.started = self.last_progress = time.monotonic()
        self.interrupted_at: float | None = None

    def write(self, chunk: bytes) -> None:
        """Parse progress lines; other output goes to `tail`."""
        *lines, self.partial_line = (self.partial_line + chunk).split(b"\n")
        self.partial_line = self.partial_line[-65536:]
        for line in lines:
            try:
                self._progress(json.loads(line))
            except (ValueError, KeyError, TypeError):
                self.tail = f"{self.tail}{line.decode('utf-8', 'replace')}\n"[-2000:]

    def sample(self, group: int) -> None:
        """Called every half second: stop a cancelled worker, or report that it is still working."""
        now = time.monotonic()
        if self.stop.is_set():
            self._stop_worker(group, now)
        elif now - self.last_progress > QUIET:
            self._progress({"progress": self.count, "message": f"working, {now - self.started:.0f} s"})

    def escaped(self, reason: str) -> None:
        """Nothing to do: the worker starts no processes that leave its session."""

    def _progress(self, line: dict[str, Any]) -> None:
        self.count, self.last_progress = float(line["progress"]), time.monotonic()
        self.forward({"progress": self.count, "message": str(line["message"])})

    def _stop_worker(self, group: int, now: float) -> None:
        """Send SIGINT, on which a worker kills its children and exits. After the grace period it is killed."""
        if self.interrupted_at is None:
            self.interrupted_at = now
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGINT)
        elif now - self.interrupted_at > GRACE:
            raise _WorkerNotStoppedError


def error_text(failure: Rocm3dError) -> str:
    """Message and hint of an error, as on the command line."""
    return failure.message + (f"\nhint: {failure.hint}" if failure.hint else "")
