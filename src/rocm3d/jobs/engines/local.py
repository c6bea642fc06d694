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

from rocm3d.jobs.engine import LAUNCHER, AttemptEvent
from rocm3d.jobs.gpus import check_visibility, select_gpus
from rocm3d.jobs.slots import cpu_slots, gpu_slots, refuse_oversized_jobs
from rocm3d.jobs.status_files import Attempt
from rocm3d.workspace.process import connected_helper
from rocm3d.workspace.topology import Topology, read_topology

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from rocm3d.jobs.engine import ScheduledAttempt
    from rocm3d.jobs.slots import Slot
    from rocm3d.jobs.specification import Jobs

_STATUS_FIELDS = ("ending", "digest", "code", "signal", "seconds", "ended", "slot", "id")


class LocalEngine:
    """`lock` is the file descriptor of the runner lock: no other runner can start while the launcher lives."""

    name = "local"

    def __init__(
        self,
        jobs: Jobs,
        lock: int,
        root: Path = Path("/"),
        integrated: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        self._lock, self._unparsed, self._tasks = lock, b"", dict[str, "ScheduledAttempt"]()
        self._stack = ExitStack()
        self._slots, self._notes = _select_slots(jobs, _topology(root, integrated), root)
        refuse_oversized_jobs(jobs.jobs, self._slots)
        if jobs.run.check_gpu:
            self._notes += check_visibility(self._slots, jobs.jobs)

    def __enter__(self) -> LocalEngine:
        self._start_launcher()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _start_launcher(self) -> None:
        program = [sys.executable, "-I", "-S", str(LAUNCHER), "serve"]
        self._socket: socket.socket = self._stack.enter_context(connected_helper(program, self._lock))

    def slots(self) -> Sequence[Slot]:
        """Slots on GPUs, or on the CPU if there is none."""
        return self._slots

    def notes(self) -> Sequence[str]:
        """Results of the GPU check, or why jobs run on the CPU."""
        return self._notes

    def start(self, tasks: Sequence[ScheduledAttempt]) -> None:
        """Send all requests in one message."""
        self._tasks.update((task.key, task) for task in tasks)
        self._send(*(task.request() for task in tasks))

    def adopt(self, task: ScheduledAttempt, remote: str) -> bool:  # noqa: ARG002  (one signature for all engines)
        """Always False: jobs end with their launcher."""
        return False

    def stop(self, key: str, ending: str) -> None:
        """Send SIGTERM to the process group, and SIGKILL after the grace period."""
        self._send({"do": "end", "key": key, "why": ending})

    def events(self, seconds: float) -> Sequence[AttemptEvent]:
        """If the launcher was killed, start another one and report all running attempts as lost."""
        if not select.select([self._socket], [], [], seconds)[0]:
            return ()
        try:
            chunk = self._socket.recv(1 << 20)
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            return self._restart_launcher()
        *lines, self._unparsed = (self._unparsed + chunk).split(b"\n")
        return [self._event(json.loads(text)) for text in lines]

    def _send(self, *messages: dict[str, Any]) -> None:
        try:
            self._socket.sendall(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        except (BrokenPipeError, ConnectionResetError):
            return  # the next `events` call finds the socket closed

    def _event(self, message: dict[str, Any]) -> AttemptEvent:
        key = message["key"]
        if "ended" in message:
            task, status = self._tasks.pop(key), message["ended"]
            return AttemptEvent(key, "over", Attempt(task.attempt, **{name: status[name] for name in _STATUS_FIELDS}))
        if "pid" in message:
            return AttemptEvent(key, "begun")
        self._tasks.pop(key, None)
        if "busy" in message:
            return AttemptEvent(key, "busy")
        return AttemptEvent(
            key, "refused", text=message["refused"], full=message["errno"] in (errno.ENOSPC, errno.EDQUOT)
        )

    def _restart_launcher(self) -> list[AttemptEvent]:
        self._stack.close()
        lost, self._unparsed, self._tasks = list(self._tasks), b"", {}
        self._start_launcher()
        return [AttemptEvent(key, "lost") for key in lost]


def _topology(root: Path, integrated: Callable[[], frozenset[str]]) -> Topology:
    """`integrated` is slow and only needed if there is a GPU."""
    return read_topology(root, integrated()) if read_topology(root).gpus else Topology()


def _select_slots(jobs: Jobs, topology: Topology, root: Path) -> tuple[list[Slot], list[str]]:
    gpus = select_gpus(jobs.run.gpus, topology, os.environ)
    if gpus:
        return gpu_slots(gpus, jobs.run.per_gpu, root), []
    slots = cpu_slots(jobs.run.slots)
    reason = "no GPU requested" if jobs.run.gpus is not None else "no AMD GPU found"
    return slots, [f"{reason}: running on the CPU, slots: {len(slots)}"]
