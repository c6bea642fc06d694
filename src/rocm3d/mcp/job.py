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

from rocm3d.mcp.worker import ANSWER, REQUEST
from rocm3d.model.failure import Rocm3dError, UserError
from rocm3d.workspace.process import run_watched
from rocm3d.workspace.scratch import guarded_scratch_folder

Tell = Callable[[float, str], Awaitable[None]]
# Time limit of a call in seconds; compiling a repository takes minutes.
LONGEST = 2 * 3600.0
# Seconds from SIGINT to SIGKILL; a worker inside a parser reacts late.
GRACE = 3.0
# Seconds without progress after which a message is sent to the caller.
QUIET = 2.0
_WAITING = 64


class Bug(Exception):  # noqa: N818
    """The worker ended without a response, or crashed because of a bug in rocm3d."""


class _Ended(Exception):  # noqa: N818
    """The call was cancelled and the worker did not stop in time."""


async def call(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """The response of a worker. If the call is cancelled, it returns after the worker and its children have ended."""
    loop, done = asyncio.get_running_loop(), anyio.Event()
    sending, receiving = anyio.create_memory_object_stream[dict[str, Any]](_WAITING)

    def hand_over(line: dict[str, Any]) -> None:
        # A slow reader misses lines; the worker never waits for it.
        with contextlib.suppress(anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            sending.send_nowait(line)

    watch = _Watch(lambda line: _later(loop, partial(hand_over, line)))
    work = partial(_worked, request, watch, lambda: _later(loop, done.set))
    async with anyio.create_task_group() as group:
        group.start_soon(_tell_all, receiving, tell)
        try:
            ended = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            watch.stop.set()
            with anyio.CancelScope(shield=True), anyio.move_on_after(2 * GRACE):
                await done.wait()
            raise
        finally:
            sending.close()
    # Outside the task group, which would wrap exceptions.
    return _judged(*ended, watch)


def _later(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    # The loop may be closed when the last line arrives.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(what)


async def _tell_all(lines: MemoryObjectReceiveStream[dict[str, Any]], tell: Tell) -> None:
    """Report progress to the caller. The protocol requires increasing values."""
    told = 0.0
    async with lines:
        async for line in lines:
            told = max(told + 0.001, float(line["progress"]))
            await tell(told, str(line["message"]))


def _worked(
    request: dict[str, Any], watch: _Watch, done: Callable[[], None]
) -> tuple[dict[str, Any] | None, int | None]:
    """In a thread: run a worker. Returns its response, if there is one, and its exit code."""
    try:
        # The working folder of the worker: no module of a repository can be imported from there.
        # If the server is killed, the cleanup helper removes the folder and kills the worker.
        with guarded_scratch_folder() as folder:
            (folder / REQUEST).write_text(json.dumps(request), encoding="utf-8")
            command = (sys.executable, "-m", "rocm3d.mcp.worker", str(folder))
            code = run_watched(command, watch, cwd=folder, env=os.environ, seconds=LONGEST)
            place = folder / ANSWER
            return (json.loads(place.read_bytes()) if place.is_file() else None), code
    except _Ended:
        return None, None
    finally:
        done()


def _judged(answer: dict[str, Any] | None, code: int | None, watch: _Watch) -> dict[str, Any]:
    if answer is None:
        raise Bug("the call timed out" if code is None else f"the worker ended with {code}: {watch.tail}")
    if "failure" in answer:
        raise UserError(answer["failure"], hint=answer["hint"])
    if "bug" in answer:
        raise Bug(answer["bug"])
    found: dict[str, Any] = answer["answer"]
    return found


class _Watch:
    """Watches a worker: forwards its progress, reports that it is still working, and stops it."""

    def __init__(self, hand_on: Callable[[dict[str, Any]], None]) -> None:
        self.hand_on, self.stop = hand_on, threading.Event()
        self.rest, self.tail, self.count = b"", "", 0.0
        self.began = self.heard = time.monotonic()
        self.asked: float | None = None

    def write(self, chunk: bytes) -> None:
        """Parse progress lines; other output goes to `tail`."""
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        self.rest = self.rest[-65536:]
        for line in lines:
            try:
                self._progress(json.loads(line))
            except (ValueError, KeyError, TypeError):
                self.tail = f"{self.tail}{line.decode('utf-8', 'replace')}\n"[-2000:]

    def look(self, group: int) -> None:
        """Called every half second: stop a cancelled worker, or report that it is still working."""
        now = time.monotonic()
        if self.stop.is_set():
            self._end(group, now)
        elif now - self.heard > QUIET:
            self._progress({"progress": self.count, "message": f"working, {now - self.began:.0f} s"})

    def _progress(self, line: dict[str, Any]) -> None:
        self.count, self.heard = float(line["progress"]), time.monotonic()
        self.hand_on({"progress": self.count, "message": str(line["message"])})

    def _end(self, group: int, now: float) -> None:
        """Send SIGINT, on which a worker kills its children and exits. After the grace period it is killed."""
        if self.asked is None:
            self.asked = now
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGINT)
        elif now - self.asked > GRACE:
            raise _Ended


def told(failure: Rocm3dError) -> str:
    """Message and hint of an error, as on the command line."""
    return failure.message + (f"\nhint: {failure.hint}" if failure.hint else "")
