"""The launcher: starts jobs, ends them with all their processes at their time limit, and writes their status files.

    python -I -S launch_jobs.py serve SOCKET [LOCK]   requests and responses are JSON lines on that file descriptor
    python -I -S launch_jobs.py one REQUEST           one job from a JSON file, for engines that use other machines

The file `STATUS.running` is created before a job starts and renamed to STATUS after its end, so STATUS is always
complete. It has its final size from the start, so that a full disk cannot prevent the result from being written. It is
locked while any process of the job lives. When the other end of the socket is closed, all jobs are ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

SIZE = 512
MARK = "ROCM3D_JOB"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
LAST_SECONDS = 10


try:
    prctl: Callable[..., object] = ctypes.CDLL(None).prctl
except (AttributeError, OSError):  # not Linux: everything else still works

    def prctl(*_: int) -> None:
        """Do nothing."""


class Job:
    """A running job. `why` is set once it was stopped; `end_at` is the time of its timeout or of SIGKILL."""

    def __init__(self, asked: dict[str, Any], files: list[int]) -> None:
        self.asked, self.files = asked, files
        self.began = time.monotonic()
        self.pid = 0
        self.why = ""
        seconds = asked.get("seconds")
        self.end_at = self.began + seconds if seconds else None

    def status(self, ending: str, **more: object) -> dict[str, Any]:
        """Content of the status file."""
        seconds = round(time.monotonic() - self.began, 4)
        return {**self.asked["about"], "ending": ending, **more, "seconds": seconds, "ended": round(time.time(), 3)}


def padded(told: dict[str, Any]) -> bytes:
    """JSON with padding to the size of a status file."""
    return json.dumps(told).ljust(SIZE - 1).encode() + b"\n"


class Launcher:
    """All jobs of one runner. The launcher is a subreaper: orphans of jobs become its children."""

    def __init__(self, tell: Callable[[dict[str, Any]], object]) -> None:
        self.tell = tell
        self.jobs: dict[int, Job] = {}
        self.base, self.places = dict(os.environ), dict[tuple[str, str], str]()
        self.null = os.open(os.devnull, os.O_RDONLY)
        self.woken, self.wakes = os.pipe()
        for end in (self.woken, self.wakes):
            os.set_blocking(end, False)
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.wakes)

    def start(self, asked: dict[str, Any]) -> None:
        """Start a job. If one of its files cannot be opened, report that and do not start it."""
        key = asked["key"]
        files: list[int] = []
        running = -1
        try:
            if asked.get("lock"):
                files.append(lock_file(asked["lock"]))
                fcntl.flock(files[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
            job = Job(asked, files)
            running = os.open(asked["status"] + ".running", os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o666)
            files.append(running)
            fcntl.flock(running, fcntl.LOCK_EX | fcntl.LOCK_NB)
            set_aside(running, padded(job.status("running")))
            log = os.open(asked["log"], os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            if running >= 0:
                os.unlink(asked["status"] + ".running")  # noqa: PTH108
            for file in files:
                os.close(file)
            self.tell({"key": key, "busy": True} if error.errno == errno.EAGAIN else refusal(key, error))
            return
        job.pid = self._forked(asked, files, log)
        os.close(log)
        self.jobs[job.pid] = job

    def _forked(self, asked: dict[str, Any], files: list[int], log: int) -> int:
        env = self._environment(asked)
        program = self._program(asked["command"][0], env.get("PATH", os.defpath))
        parent, pid = os.getpid(), os.fork()
        if pid:
            return pid
        # The child process, which never returns.
        try:
            os.setsid()
            prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            for file, place in ((self.null, 0), (log, 1), (log, 2)):
                os.dup2(file, place)
            # All processes of the job inherit its locks.
            for file in files:
                os.set_inheritable(file, True)
            if os.getppid() == parent:
                os.chdir(asked["folder"])
                os.execve(program, asked["command"], env)  # noqa: S606
        except OSError as error:
            os.write(2, f"rocm3d: {asked['command'][0]} in {asked['folder']}: {error.strerror}\n".encode())
        finally:
            os._exit(127)

    def _program(self, name: str, path: str) -> str:
        """Path of a program; cached, because thousands of jobs may start the same one."""
        if "/" in name:
            return name
        if (name, path) not in self.places:
            found = (f"{folder or '.'}/{name}" for folder in path.split(os.pathsep))
            self.places[name, path] = next((place for place in found if os.access(place, os.X_OK)), name)
        return self.places[name, path]

    def _environment(self, asked: dict[str, Any]) -> dict[str, Any]:
        env = {**self.base, **asked.get("env", {}), MARK: asked["status"]}
        # Keep only the first mask that is set: two masks would filter twice.
        masks = [name for name in asked.get("masks", ()) if env.get(name)]
        for name in {*asked.get("masks", ()), *asked.get("unset", ())} - set(masks[:1]):
            env.pop(name, None)
        return env

    def end(self, key: str, why: str) -> None:
        """Stop a job with SIGTERM, and with SIGKILL after its grace period."""
        for job in self.jobs.values():
            if job.asked["key"] == key and not job.why:
                self._ask(job, why)

    def _ask(self, job: Job, why: str) -> None:
        job.why, job.end_at = why, time.monotonic() + job.asked.get("grace", 0)
        send(job.pid, signal.SIGTERM if job.asked.get("grace") else signal.SIGKILL)

    def look_at_clock(self) -> float | None:
        """Stop jobs at their time limit; returns the seconds until the next limit, None if there is none."""
        now = time.monotonic()
        for job in self.jobs.values():
            if job.end_at is not None and job.end_at <= now:
                if job.why:
                    send(job.pid, signal.SIGKILL)
                    job.end_at = None
                else:
                    self._ask(job, "timed_out")
        ends = [job.end_at for job in self.jobs.values() if job.end_at is not None]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def reap(self) -> None:
        """Reap all ended children and report the jobs among them."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.woken, 4096)
        with contextlib.suppress(ChildProcessError):
            while (gone := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
                job = self.jobs.pop(gone.si_pid, None)
                if job is not None:
                    # Until it is reaped its pid is not reused, so the process group is still its own.
                    send(gone.si_pid, signal.SIGKILL)
                os.waitpid(gone.si_pid, 0)
                if job is not None:
                    self._ended(job, gone.si_status, exited=gone.si_code == os.CLD_EXITED)
                self._sweep()

    def _ended(self, job: Job, status: int, *, exited: bool) -> None:
        asked, key = job.asked, job.asked["key"]
        code, number = (status, None) if exited else (None, status)
        if job.why:
            ending = job.why
        elif exited and status in asked.get("success", (0,)):
            ending = "done"
        else:
            ending = "killed" if number in FROM_OUTSIDE else "failed"
        told = job.status(ending, code=code, signal=number)
        try:
            os.pwrite(job.files[-1], padded(told), 0)
            os.rename(asked["status"] + ".running", asked["status"])  # noqa: PTH104  (pathlib is not loaded here)
            self.tell({"key": key, "ended": told})
        except OSError as error:
            self.tell(refusal(key, error))
        for file in job.files:
            os.close(file)

    def _sweep(self) -> None:
        """Kill processes of ended jobs that had moved to their own session."""
        strays = children() - self.jobs.keys()
        alive = {f"{MARK}={job.asked['status']}".encode() for job in self.jobs.values()} if strays else set()
        for pid in strays:
            with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
                marks = {entry for entry in file.read().split(b"\0") if entry.startswith(MARK.encode() + b"=")}
                if marks and not marks & alive:
                    os.kill(pid, signal.SIGKILL)

    def end_all(self) -> None:
        """Kill all children. Jobs that ended by themselves meanwhile still get their result."""
        patience = time.monotonic() + LAST_SECONDS
        self.reap()
        while (left := children()) and time.monotonic() < patience:
            for pid in left:
                send(pid, signal.SIGKILL)
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self._bury()
            time.sleep(0.002)

    def _bury(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (gone := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG)) is not None:
                job = self.jobs.pop(gone.si_pid, None)
                if job is not None and gone.si_code == os.CLD_EXITED:
                    self._ended(job, gone.si_status, exited=True)


def lock_file(path: str) -> int:
    """Open a lock file for reading only: another user may have created it."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        pass
    try:
        file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return os.open(path, flags)
    os.fchmod(file, 0o644)
    return file


def set_aside(file: int, content: bytes) -> None:
    """Write the content completely; raises OSError if the disk is full."""
    if os.pwrite(file, content, 0) < len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refusal(key: str, error: OSError) -> dict[str, Any]:
    """Message: a job could not be started, or its result could not be written."""
    return {"key": key, "refused": f"{error.filename or 'its files'}: {error.strerror}", "errno": error.errno}


def send(group: int, number: int) -> None:
    """Signal a process group, or only the child if it has not created its group yet."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            os.kill(group, number)


def children() -> set[int]:
    """Ids of all children, including adopted orphans."""
    with contextlib.suppress(OSError), open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:  # noqa: PTH123
        return {int(word) for word in file.read().split()}
    return set()


def serve(number: int, *locks: int) -> None:
    """Process requests until the socket is closed. The launcher also holds the runner lock; jobs do not inherit it."""
    line = socket.socket(fileno=number)
    for file in (number, *locks):
        os.set_inheritable(file, False)

    def tell(message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            line.sendall(json.dumps(message).encode() + b"\n")

    launcher = Launcher(tell)
    try:
        attend(launcher, line)
    except ConnectionResetError:
        pass  # the runner was killed before it had read all messages
    finally:
        launcher.end_all()


def attend(launcher: Launcher, line: socket.socket) -> None:
    """Main loop: handle requests, ended jobs and time limits until the runner closes the socket."""
    rest = b""
    while True:
        readable, _, _ = select.select([line.fileno(), launcher.woken], [], [], launcher.look_at_clock())
        if launcher.woken in readable:
            launcher.reap()
        if line.fileno() not in readable:
            continue
        chunk = line.recv(1 << 20)
        if not chunk:
            return
        *whole, rest = (rest + chunk).split(b"\n")
        for text in whole:
            asked = json.loads(text)
            if asked["do"] == "start":
                launcher.start(asked)
            else:
                launcher.end(asked["key"], asked["why"])


def one(path: str) -> int:
    """Run a single job. Its exit code is in its status file, not in the exit code of the launcher.

    A second process in its own session ends the job if this process is killed in any way.
    """
    prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    reading, writing = os.pipe()
    guard = os.fork()
    if guard:
        os.close(reading)
        return os.waitstatus_to_exitcode(os.waitpid(guard, 0)[1])
    os.close(writing)
    os.setsid()
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return guarded(json.load(file), reading)


def guarded(asked: dict[str, Any], line: int) -> int:
    """Run the job until it ends or the pipe is closed."""
    told: list[dict[str, Any]] = []
    launcher = Launcher(told.append)

    def stop(*_: object) -> None:
        launcher.end_all()
        os._exit(1)

    signal.signal(signal.SIGTERM, stop)
    launcher.start(asked)
    while launcher.jobs:
        readable, _, _ = select.select([launcher.woken, line], [], [], launcher.look_at_clock())
        if line in readable:
            break
        launcher.reap()
    launcher.end_all()
    problem = next((message["refused"] for message in told if "refused" in message), "")
    if problem or any("busy" in message for message in told):
        os.write(2, f"rocm3d: {problem or 'the GPU is in use by another run'}\n".encode())
        return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(*map(int, sys.argv[2:]))
    else:
        sys.exit(one(sys.argv[2]))
