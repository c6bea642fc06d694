"""Lists the processes that tests start, and ends them with all their descendants.

A child inherits the environment of its parent, so a unique variable also finds processes that left the session and
lost their parent.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

# Marks everything that one pytest process starts, and everything that one `Program` starts.
RUN = "ROCM3D_TEST_RUN"
PROGRAM = "ROCM3D_TEST_PROGRAM"
# Helpers of multiprocessing live as long as the interpreter, whichever test started them.
LASTING = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")
PAUSE = 0.01
# SIGKILL cannot be ignored; a process that still exists is stuck in the kernel.
UNKILLABLE = 60.0

_numbers = itertools.count()


class Program(subprocess.Popen):
    """A process that ends with its `with` block, with all its descendants."""

    def __init__(self, command: Iterable[object], *, env: Mapping[str, str] | None = None, **options: Any) -> None:
        value = f"{os.getpid()}-{time.time_ns()}-{next(_numbers)}"
        self.mark = f"{PROGRAM}={value}"
        environment = {**(os.environ if env is None else env), PROGRAM: value}
        super().__init__([*map(os.fspath, command)], env=environment, **options)

    def __exit__(self, *_: object) -> None:
        end_family(self)


def children(pid: int) -> list[int]:
    """Child processes of all threads of a process."""
    pids: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                pids += map(int, (task / "children").read_text().split())
    return pids


def descendants(pid: int, without: Iterable[int] = ()) -> list[int]:
    """Children, their children and so on, without the processes of `without` and their descendants."""
    pids, left, hidden = [], [pid], set(without)
    while left:
        next_children = [child for child in children(left.pop()) if child not in hidden]
        pids += next_children
        left += next_children
    return pids


def all_processes() -> list[int]:
    """Process ids of this machine."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def running_with(mark: str) -> list[int]:
    """Processes whose environment contains this text, for example `NAME=value`."""
    variable, pids = os.fsencode(mark), []
    for pid in all_processes():
        if pid != os.getpid():
            with contextlib.suppress(OSError):
                if variable in Path(f"/proc/{pid}/environ").read_bytes():
                    pids.append(pid)
    return pids


def running_as(text: str) -> list[int]:
    """Processes whose command line contains this text."""
    return [pid for pid in all_processes() if text in command_line(pid)]


def command_line(pid: int) -> str:
    """The command line; empty if the process has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ").strip()
    return ""


def is_running(pid: int) -> bool:
    """Whether it runs. A zombie does not: it only waits for its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def kill(pids: Iterable[int]) -> None:
    """SIGKILL to each, and wait until none is running."""
    killed = set(pids)
    for pid in killed:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + UNKILLABLE
    while left := [*filter(is_running, killed)]:
        if time.monotonic() > end:
            raise RuntimeError(f"processes {left} are still running {UNKILLABLE:.0f} s after SIGKILL")
        time.sleep(PAUSE)


def kill_family(process: subprocess.Popen) -> None:
    """Kill a process and its descendants; for a `Program` also orphans, for a plain Popen not."""
    mark = getattr(process, "mark", None)

    def family() -> list[int]:
        # The id of a process that was waited for may already belong to another process.
        by_parent = [] if process.poll() is not None else [process.pid, *descendants(process.pid)]
        return [*filter(is_running, by_parent), *(running_with(mark) if mark else ())]

    # Repeat: one of them may have started another process.
    while left := family():
        kill(left)


def end_family(process: subprocess.Popen) -> None:
    """Kill a process and its descendants, and close its pipes without reading them."""
    kill_family(process)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                stream.close()


def lasts(pid: int) -> bool:
    """Whether it belongs to this interpreter and not to a test."""
    line = command_line(pid)
    return any(name in line for name in LASTING)


def begin_run() -> None:
    """Mark every process that this one starts from now on; see `end_strays`."""
    os.environ[RUN] = f"{os.getpid()}-{time.time_ns()}"


def end_strays(before: Iterable[int], *, thorough: bool = False) -> list[str]:
    """End processes that this one started, except `before` and their descendants; returns their command lines.

    Fast if there are none: only the children of this process are read. With `thorough`, every process of the machine
    is searched for the mark of `begin_run`, which finds orphans.
    """
    exempt = {*before}
    ended: dict[int, str] = {}

    def strays() -> list[int]:
        pids = descendants(os.getpid(), exempt)
        if thorough and RUN in os.environ:
            below = {pid for one in exempt for pid in (one, *descendants(one))}
            pids += [pid for pid in running_with(f"{RUN}={os.environ[RUN]}") if pid not in below]
        return [pid for pid in pids if is_running(pid) and not lasts(pid)]

    while left := strays():
        ended.update((pid, command_line(pid)) for pid in left)
        kill(left)
    return [*ended.values()]
