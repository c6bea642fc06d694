"""Starts jobs, ends them in time with all that they started, and writes how each of them ended.

    python -I -S launch_jobs.py serve SOCKET [LOCK]   requests and answers are JSON lines on that file descriptor
    python -I -S launch_jobs.py one REQUEST           one job, from a JSON file: for engines that start us elsewhere

A file `STATUS.running` is there before a job begins, and is renamed to STATUS when it has ended: what bears that name
is whole. It has its size from the beginning, so that a full disk cannot keep the end of a job from being written. It
stays locked for as long as anything of the job lives. Where the other end of the socket goes away, everything ends.
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
except (AttributeError, OSError):  # not Linux: the rest still holds

    def prctl(*_: int) -> None:
        """Nothing."""


class Job:
    """One that runs: `why` and `end_at` tell that its end was asked for, and when patience is over."""

    def __init__(self, asked: dict[str, Any], files: list[int]) -> None:
        self.asked, self.files = asked, files
        self.began = time.monotonic()
        self.pid = 0
        self.why = ""
        seconds = asked.get("seconds")
        self.end_at = self.began + seconds if seconds else None

    def status(self, ending: str, **more: object) -> dict[str, Any]:
        """What is known of it."""
        seconds = round(time.monotonic() - self.began, 4)
        return {**self.asked["about"], "ending": ending, **more, "seconds": seconds, "ended": round(time.time(), 3)}


def padded(told: dict[str, Any]) -> bytes:
    """In as many bytes as are set aside."""
    return json.dumps(told).ljust(SIZE - 1).encode() + b"\n"


class Launcher:
    """All jobs of one runner. Orphans of theirs become our children, so that none is missed."""

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
        """One job; what cannot be opened for it is told and it is not started."""
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
        # From here on in the child, which never returns.
        try:
            os.setsid()
            prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            for file, place in ((self.null, 0), (log, 1), (log, 2)):
                os.dup2(file, place)
            # Whatever the job starts holds its locks, too.
            for file in files:
                os.set_inheritable(file, True)
            if os.getppid() == parent:
                os.chdir(asked["folder"])
                os.execve(program, asked["command"], env)  # noqa: S606  (no shell is wanted)
        except OSError as error:
            os.write(2, f"rocm3d: {asked['command'][0]} in {asked['folder']}: {error.strerror}\n".encode())
        finally:
            os._exit(127)

    def _program(self, name: str, path: str) -> str:
        """Where a program lies; looked for once, as a thousand jobs may begin with the same."""
        if "/" in name:
            return name
        if (name, path) not in self.places:
            found = (f"{folder or '.'}/{name}" for folder in path.split(os.pathsep))
            self.places[name, path] = next((place for place in found if os.access(place, os.X_OK)), name)
        return self.places[name, path]

    def _environment(self, asked: dict[str, Any]) -> dict[str, Any]:
        env = {**self.base, **asked.get("env", {}), MARK: asked["status"]}
        # Of several masks only the first that is set stays: two would filter twice.
        masks = [name for name in asked.get("masks", ()) if env.get(name)]
        for name in {*asked.get("masks", ()), *asked.get("unset", ())} - set(masks[:1]):
            env.pop(name, None)
        return env

    def end(self, key: str, why: str) -> None:
        """Ask a job to end; what has not after its grace is killed."""
        for job in self.jobs.values():
            if job.asked["key"] == key and not job.why:
                self._ask(job, why)

    def _ask(self, job: Job, why: str) -> None:
        job.why, job.end_at = why, time.monotonic() + job.asked.get("grace", 0)
        send(job.pid, signal.SIGTERM if job.asked.get("grace") else signal.SIGKILL)

    def look_at_clock(self) -> float | None:
        """End what is over its time; the seconds until the next one is."""
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
        """Take note of all that has ended."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.woken, 4096)
        with contextlib.suppress(ChildProcessError):
            while (gone := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
                job = self.jobs.pop(gone.si_pid, None)
                if job is not None:
                    # Its number is not given away before it is reaped: the group is still its own.
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
        """End what jobs that are gone have left behind in sessions of its own."""
        strays = children() - self.jobs.keys()
        alive = {f"{MARK}={job.asked['status']}".encode() for job in self.jobs.values()} if strays else set()
        for pid in strays:
            with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
                marks = {entry for entry in file.read().split(b"\0") if entry.startswith(MARK.encode() + b"=")}
                if marks and not marks & alive:
                    os.kill(pid, signal.SIGKILL)

    def end_all(self) -> None:
        """Leave nothing behind. What ended by itself meanwhile still counts as ended."""
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
    """Opened to be locked. Any user may have made it, and any other must be able to open it: so only to be read."""
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
    """All of it, or as much room as it takes is not there."""
    if os.pwrite(file, content, 0) < len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refusal(key: str, error: OSError) -> dict[str, Any]:
    """Why a job could not be started, or its end not be written."""
    return {"key": key, "refused": f"{error.filename or 'its files'}: {error.strerror}", "errno": error.errno}


def send(group: int, number: int) -> None:
    """A signal to a whole process group; to the child alone as long as it has not made itself one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            os.kill(group, number)


def children() -> set[int]:
    """Every child of ours, adopted ones included."""
    with contextlib.suppress(OSError), open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:  # noqa: PTH123
        return {int(word) for word in file.read().split()}
    return set()


def serve(number: int, *locks: int) -> None:
    """Do what comes down the socket, until it ends. The runner's lock is held by us, too, and by no job."""
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
        pass  # the runner was killed before it had read what we told it
    finally:
        launcher.end_all()


def attend(launcher: Launcher, line: socket.socket) -> None:
    """Requests, ends and clocks, for as long as there is a runner."""
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
    """A single job to its end. Its exit code is in its status, not in ours.

    Whoever starts us may kill us in any way: a second process in a session of its own sees that, and ends the job.
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
    """Until the job has ended, or the pipe has."""
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
        os.write(2, f"rocm3d: {problem or 'the GPU is taken'}\n".encode())
        return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(*map(int, sys.argv[2:]))
    else:
        sys.exit(one(sys.argv[2]))
