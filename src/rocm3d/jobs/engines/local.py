"""Engine for this machine: a small launcher process (payload/launch_jobs.py) starts and ends the jobs."""

from __future__ import annotations

import errno
import json
import os
import select
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm3d.jobs import sight
from rocm3d.jobs.engine import LAUNCHER, Event
from rocm3d.jobs.gpus import chosen
from rocm3d.jobs.slots import on_gpus, on_processor, refuse_too_large
from rocm3d.jobs.status_files import Attempt
from rocm3d.workspace.process import connected_helper
from rocm3d.workspace.topology import Topology, read_topology

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from rocm3d.jobs.engine import Task
    from rocm3d.jobs.slots import Slot
    from rocm3d.jobs.specification import Jobs

_KEPT = ("ending", "digest", "code", "signal", "seconds", "ended", "slot")


class Local:
    """`lock` is the file descriptor of the runner lock: no other runner can start while the launcher lives."""

    name = "local"

    def __init__(
        self,
        jobs: Jobs,
        lock: int,
        root: Path = Path("/"),
        integrated: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        self._lock, self._rest, self._tasks = lock, b"", dict[str, "Task"]()
        self._stack = ExitStack()
        self._slots, self._notes = _places(jobs, _topology(root, integrated), root)
        refuse_too_large(jobs.jobs, self._slots)
        if jobs.run.check_gpu:
            self._notes += sight.check(self._slots, jobs.jobs)

    def __enter__(self) -> Local:
        self._call()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _call(self) -> None:
        program = [sys.executable, "-I", "-S", str(LAUNCHER), "serve"]
        self._line: socket.socket = self._stack.enter_context(connected_helper(program, self._lock))

    def slots(self) -> Sequence[Slot]:
        """Slots on GPUs, or on the CPU if there is none."""
        return self._slots

    def notes(self) -> Sequence[str]:
        """Results of the GPU check, or why jobs run on the CPU."""
        return self._notes

    def start(self, tasks: Sequence[Task]) -> None:
        """Send all requests in one message."""
        self._tasks.update((task.key, task) for task in tasks)
        self._say(*(task.request() for task in tasks))

    def adopt(self, task: Task, remote: str) -> bool:  # noqa: ARG002  (one signature for all engines)
        """Always False: jobs end with their launcher."""
        return False

    def end(self, key: str, why: str) -> None:
        """Send SIGTERM to the process group, and SIGKILL after the grace period."""
        self._say({"do": "end", "key": key, "why": why})

    def events(self, seconds: float) -> Sequence[Event]:
        """If the launcher was killed, start another one and report all running attempts as lost."""
        if not select.select([self._line], [], [], seconds)[0]:
            return ()
        try:
            chunk = self._line.recv(1 << 20)
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            return self._lost()
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        return [self._event(json.loads(text)) for text in whole]

    def _say(self, *messages: dict[str, Any]) -> None:
        try:
            self._line.sendall(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        except (BrokenPipeError, ConnectionResetError):
            return  # the next `events` call finds the socket closed

    def _event(self, told: dict[str, Any]) -> Event:
        key = told["key"]
        if "ended" in told:
            task, said = self._tasks.pop(key), told["ended"]
            return Event(key, "over", Attempt(task.attempt, **{name: said[name] for name in _KEPT}))
        if "pid" in told:
            return Event(key, "begun")
        self._tasks.pop(key, None)
        if "busy" in told:
            return Event(key, "busy")
        return Event(key, "refused", text=told["refused"], full=told["errno"] in (errno.ENOSPC, errno.EDQUOT))

    def _lost(self) -> list[Event]:
        self._stack.close()
        gone, self._rest, self._tasks = list(self._tasks), b"", {}
        self._call()
        return [Event(key, "lost") for key in gone]


def _topology(root: Path, integrated: Callable[[], frozenset[str]]) -> Topology:
    """`integrated` is slow and only needed if there is a GPU."""
    return read_topology(root, integrated()) if read_topology(root).gpus else Topology()


def _places(jobs: Jobs, topology: Topology, root: Path) -> tuple[list[Slot], list[str]]:
    gpus = chosen(jobs.run.gpus, topology, os.environ)
    if gpus:
        return on_gpus(gpus, jobs.run.per_gpu, root), []
    slots = on_processor(jobs.run.slots)
    why = "no GPU requested" if jobs.run.gpus is not None else "no AMD GPU found"
    return slots, [f"{why}: running on the CPU, slots: {len(slots)}"]
