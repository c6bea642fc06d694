"""A call of a tool as the server sees it: a worker that reports progress, and is ended when nobody waits for it.

Nothing of it happens on the event loop: a thread waits for the worker, and lines of progress are handed over.
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
from rocm3d.model.failure import Failure, UserError
from rocm3d.workspace.process import follow
from rocm3d.workspace.scratch import kept_folder

Tell = Callable[[float, str], Awaitable[None]]
# Nobody waits longer for an answer; compiling all of a repository takes minutes.
LONGEST = 2 * 3600.0
# A worker that is deep inside a parser hears late that it should go; then it is killed.
GRACE = 3.0
# A caller hears from us this often, whatever is being done.
QUIET = 2.0
_WAITING = 64


class Bug(Exception):  # noqa: N818  (what it is)
    """A worker that ended without an answer, or with a mistake of ours."""


class _Ended(Exception):  # noqa: N818
    """Nobody waits for the worker any more."""


async def call(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """The answer of a worker. A caller that is cancelled goes only when the worker has ended, and all it started."""
    loop, done = asyncio.get_running_loop(), anyio.Event()
    sending, receiving = anyio.create_memory_object_stream[dict[str, Any]](_WAITING)

    def hand_over(line: dict[str, Any]) -> None:
        # A reader that is slow misses lines; the worker never waits for it.
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
    # Not inside the group, which would wrap what is raised.
    return _judged(*ended, watch)


def _later(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    # The loop may be gone when the last line comes.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(what)


async def _tell_all(lines: MemoryObjectReceiveStream[dict[str, Any]], tell: Tell) -> None:
    """Progress has to grow, and a caller that cannot be told is no reason to stop."""
    told = 0.0
    async with lines:
        async for line in lines:
            told = max(told + 0.001, float(line["progress"]))
            await tell(told, str(line["message"]))


def _worked(
    request: dict[str, Any], watch: _Watch, done: Callable[[], None]
) -> tuple[dict[str, Any] | None, int | None]:
    """In a thread: start a worker, wait for it, read what it wrote, and how it ended."""
    try:
        # The worker stands in it: from where it stands, nothing of a repository can be imported.
        # Where the server is killed, somebody removes the folder and ends the worker.
        with kept_folder() as folder:
            (folder / REQUEST).write_text(json.dumps(request), encoding="utf-8")
            command = (sys.executable, "-m", "rocm3d.mcp.worker", str(folder))
            code = follow(command, watch, cwd=folder, env=os.environ, seconds=LONGEST)
            place = folder / ANSWER
            return (json.loads(place.read_bytes()) if place.is_file() else None), code
    except _Ended:
        return None, None
    finally:
        done()


def _judged(answer: dict[str, Any] | None, code: int | None, watch: _Watch) -> dict[str, Any]:
    if answer is None:
        raise Bug("it took too long" if code is None else f"the worker ended with {code}: {watch.tail}")
    if "failure" in answer:
        raise UserError(answer["failure"], hint=answer["hint"])
    if "bug" in answer:
        raise Bug(answer["bug"])
    found: dict[str, Any] = answer["answer"]
    return found


class _Watch:
    """Follows a worker: hands on its lines, says that it is still at work, and ends it."""

    def __init__(self, hand_on: Callable[[dict[str, Any]], None]) -> None:
        self.hand_on, self.stop = hand_on, threading.Event()
        self.rest, self.tail, self.count = b"", "", 0.0
        self.began = self.heard = time.monotonic()
        self.asked: float | None = None

    def write(self, chunk: bytes) -> None:
        """Lines of progress, and whatever else it printed."""
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        self.rest = self.rest[-65536:]
        for line in lines:
            try:
                self._progress(json.loads(line))
            except (ValueError, KeyError, TypeError):
                self.tail = f"{self.tail}{line.decode('utf-8', 'replace')}\n"[-2000:]

    def look(self, group: int) -> None:
        """Every half second."""
        now = time.monotonic()
        if self.stop.is_set():
            self._end(group, now)
        elif now - self.heard > QUIET:
            self._progress({"progress": self.count, "message": f"working, {now - self.began:.0f} s"})

    def _progress(self, line: dict[str, Any]) -> None:
        self.count, self.heard = float(line["progress"]), time.monotonic()
        self.hand_on({"progress": self.count, "message": str(line["message"])})

    def _end(self, group: int, now: float) -> None:
        """A worker answers SIGINT by ending what it started, and itself; one that does not is killed."""
        if self.asked is None:
            self.asked = now
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGINT)
        elif now - self.asked > GRACE:
            raise _Ended


def told(failure: Failure) -> str:
    """A failure in the words of the command line."""
    return failure.message + (f"\nhint: {failure.hint}" if failure.hint else "")
