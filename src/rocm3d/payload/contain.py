"""Runs a program and ends everything that it started, also processes that left its session and lost their parent.

    python -I -S contain.py CONTROL STATUS MARK LIMITS COMMAND...

The descriptor CONTROL is a pipe whose other end rocm3d holds: when it closes, for any reason, everything is ended.
STATUS receives the line `started PID` or `failed ERRNO`, and last `ended CODE SURVIVORS LIMIT`, where CODE is the exit
code, or the negative signal number, or `none` if the program was ended from here, and LIMIT the limit that it
exceeded, or `-`.

MARK is the value of ROCM3D_KEPT_BY for the program, by which clean_up.py finds it; empty: none. This process does not
have it, because it must live until its descendants have ended.

LIMITS is empty or a JSON object: `tasks` (processes and threads), `memory` (resident bytes of all of them together),
`file` (bytes of one file), `folder` and `free` (bytes that stay free on the disk of this folder).

This process is a subreaper: every orphan below it becomes its child, whatever the orphan did to its session, group or
environment. So it is done when it has no child left. Needs Linux.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
# A process that waits for a driver cannot be killed: it is reported after this time.
END_SECONDS = 10.0
PAUSE = 0.005
# How often limits are compared with what is used. A fork bomb starts some thousand processes in this time.
INTERVAL = 0.1
# For the kernel, above the limit that is compared here: it counts all processes of the user.
SPARE_TASKS = 1024
PAGE = resource.getpagesize()
STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
WATCHED = (signal.SIGCHLD, signal.SIGUSR1)


class Container:
    """One program and its descendants."""

    def __init__(self, control: int, status: int, limits: dict[str, object]) -> None:
        self.control, self.status, self.limits = control, status, limits
        self.exceeded = ""
        self.parent, self.program = os.getppid(), 0
        self.code: int | None = None
        self.is_stopped = False
        self.wakeup, writer = os.pipe()
        for end in (self.wakeup, writer):
            os.set_blocking(end, False)
        for end in (control, status):
            os.set_inheritable(end, False)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")
        self.prctl = libc.prctl
        # What rocm3d ignores, as under nohup, ends neither this process nor the program.
        self.ignored = {number for number in (*STOPPING, *WATCHED) if signal.getsignal(number) is signal.SIG_IGN}
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in STOPPING:
            if number not in self.ignored:
                signal.signal(number, self._stop)
        # Also sent when only the thread ends that started this process.
        signal.signal(signal.SIGUSR1, self._stop_if_orphaned)
        self.prctl(PR_SET_PDEATHSIG, int(signal.SIGUSR1), 0, 0, 0)

    def _stop(self, *_: object) -> None:
        self.is_stopped = True

    def _stop_if_orphaned(self, *_: object) -> None:
        self.is_stopped = self.is_stopped or os.getppid() != self.parent

    def start(self, command: list[str], mark: str) -> bool:
        """Start the program in its own session; False if that fails, which is reported."""
        environment = initial_environment()
        if mark:
            environment[b"ROCM3D_KEPT_BY"] = mark.encode()
        reading, writing = os.pipe()
        launcher = os.getpid()
        self.program = os.fork()
        if self.program == 0:
            self._become(command, environment, writing, launcher)
        os.close(writing)
        with open(reading, "rb") as pipe:  # noqa: PTH123
            failure = pipe.read()
        self.report(f"failed {failure.decode()}" if failure else f"started {self.program}")
        return not failure

    def _become(self, command: list[str], environment: dict[bytes, bytes], failure: int, launcher: int) -> None:
        """In the child process: never returns."""
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGPIPE, signal.SIGXFSZ, *STOPPING, *WATCHED):
                signal.signal(number, signal.SIG_IGN if number in self.ignored else signal.SIG_DFL)
            # If this launcher is killed, at least the program itself ends with it.
            self.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
            self._set_limits()
            if os.getppid() == launcher:
                os.execvpe(command[0], command, environment)  # noqa: S606
        except OSError as error:
            os.write(failure, str(error.errno).encode())
        finally:
            os._exit(127)

    def _set_limits(self) -> None:
        """Limits that the kernel holds, in the child process. They hold for each of its processes."""
        if not self.limits:
            return
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        lower(resource.RLIMIT_FSIZE, self.limit("file"))
        if os.getuid() != 0:  # the kernel does not count those of root
            lower(resource.RLIMIT_NPROC, tasks_of_user(os.getuid()) + self.limit("tasks") + SPARE_TASKS)

    def limit(self, name: str) -> int:
        return int(str(self.limits[name]))

    def report(self, line: str) -> None:
        """Tell rocm3d, if it still listens."""
        with contextlib.suppress(OSError):
            os.write(self.status, line.encode() + b"\n")

    def wait(self) -> None:
        """Wait until the program ends, or rocm3d ends or wants an end."""
        while self.code is None and not self.is_stopped:
            readable, _, _ = select.select([self.control, self.wakeup], [], [], INTERVAL if self.limits else None)
            self.exceeded = self._exceeded_limit() if self.limits else ""
            if self.control in readable or self.exceeded:
                self.is_stopped = True
            self.reap()

    def _exceeded_limit(self) -> str:
        """The name of a limit that is exceeded now; empty if there is none."""
        with contextlib.suppress(OSError):  # the folder is removed when rocm3d is killed
            disk = os.statvfs(str(self.limits["folder"]))
            if disk.f_bavail * disk.f_frsize < self.limit("free"):
                return "disk"
        tasks = pages = 0
        pending = [self.program]
        while pending:
            pid = pending.pop()
            with contextlib.suppress(OSError, IndexError, ValueError):
                threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
                tasks += len(threads)
                with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123
                    pages += int(file.read().split()[1])
                for thread in threads:
                    with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                        pending += map(int, file.read().split())
            if tasks > self.limit("tasks"):
                return "tasks"
        return "memory" if pages * PAGE > self.limit("memory") else ""

    def reap(self) -> bool:
        """Collect ended children; False if there is no child."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.wakeup, 4096)
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.program and not self.is_stopped:
                    self.code = os.waitstatus_to_exitcode(ended[1])
        except ChildProcessError:
            return False
        return True

    def end_all(self) -> int:
        """Kill all descendants until none is left; the number of those that cannot be killed."""
        deadline = time.monotonic() + END_SECONDS
        while self.reap():
            if time.monotonic() > deadline:
                return len(descendants())
            for pid in descendants():
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            select.select([self.wakeup], [], [], PAUSE)
        return 0


def lower(kind: int, value: int) -> None:
    """Lower a limit of this process, and of those that it starts."""
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def tasks_of_user(user: int) -> int:
    """Processes and threads of a user now."""
    count = 0
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:  # noqa: PTH116
                    count += len(os.listdir(f"/proc/{name}/task"))  # noqa: PTH208
    return count


def initial_environment() -> dict[bytes, bytes]:
    """The environment of this process as rocm3d set it: Python may have changed the locale in its own copy."""
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123
        entries = file.read().split(b"\0")
    return {name: value for name, equals, value in (entry.partition(b"=") for entry in entries) if equals}


def descendants() -> list[int]:
    """Children of this process, their children and so on, without those that only wait to be collected."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                fields = file.read().rpartition(b")")[2].split()
                if fields[0] not in (b"Z", b"X"):
                    parents[int(name)] = int(fields[1])
                else:
                    parents[int(name)] = -int(fields[1])
    below, own = {os.getpid()}, -1
    while len(below) != own:
        own = len(below)
        below |= {pid for pid, parent in parents.items() if abs(parent) in below}
    return sorted(pid for pid in below if parents.get(pid, 0) > 0 and pid != os.getpid())


def main() -> None:
    control, status, mark, limits, *command = sys.argv[1:]
    container = Container(int(control), int(status), json.loads(limits or "{}"))
    if not container.start(command, mark):
        return
    # The output of the program ends with its last process, not with this one.
    null = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)
    container.wait()
    survivors = container.end_all()
    code = "none" if container.code is None else container.code
    container.report(f"ended {code} {survivors} {container.exceeded or '-'}")


if __name__ == "__main__":
    main()
