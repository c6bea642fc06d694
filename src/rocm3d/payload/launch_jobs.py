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

STATUS_BYTES = 1024
JOB_VARIABLE = "ROCM3D_JOB"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
KILL_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
END_SECONDS = 10


try:
    prctl: Callable[..., object] = ctypes.CDLL(None).prctl
except (AttributeError, OSError):  # not Linux: everything else still works

    def prctl(*_: int) -> None:
        """Do nothing."""


class RunningJob:
    """A running job. `why` is set once it was stopped; `end_at` is the time of its timeout or of SIGKILL."""

    def __init__(self, request: dict[str, Any], files: list[int]) -> None:
        self.request, self.files = request, files
        self.began = time.monotonic()
        self.pid = 0
        self.stop_reason = ""
        seconds = request.get("seconds")
        self.deadline = self.began + seconds if seconds else None

    def status(self, ending: str, **more: object) -> dict[str, Any]:
        """Content of the status file."""
        seconds = round(time.monotonic() - self.began, 4)
        return {**self.request["about"], "ending": ending, **more, "seconds": seconds, "ended": round(time.time(), 3)}


def pad_status(status: dict[str, Any]) -> bytes:
    """JSON with padding to the size of a status file."""
    return json.dumps(status).ljust(STATUS_BYTES - 1).encode() + b"\n"


class Launcher:
    """All jobs of one runner. The launcher is a subreaper: orphans of jobs become its children."""

    def __init__(self, report: Callable[[dict[str, Any]], object]) -> None:
        self.report = report
        self.jobs: dict[int, RunningJob] = {}
        self.environment, self.program_paths = dict(os.environ), dict[tuple[str, str], str]()
        self.null = os.open(os.devnull, os.O_RDONLY)
        self.wakeup_reader, self.wakeup_writer = os.pipe()
        for end in (self.wakeup_reader, self.wakeup_writer):
            os.set_blocking(end, False)
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.wakeup_writer)

    def start(self, request: dict[str, Any]) -> None:
        """Start a job. If one of its files cannot be opened, report that and do not start it."""
        key = request["key"]
        files: list[int] = []
        status_file = -1
        try:
            if request.get("lock"):
                files.append(open_lock_file(request["lock"]))
                fcntl.flock(files[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
            job = RunningJob(request, files)
            status_file = os.open(
                request["status"] + ".running", os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o666
            )
            files.append(status_file)
            fcntl.flock(status_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            write_completely(status_file, pad_status(job.status("running")))
            log = os.open(request["log"], os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            if status_file >= 0:
                os.unlink(request["status"] + ".running")  # noqa: PTH108
            for file in files:
                os.close(file)
            self.report({"key": key, "busy": True} if error.errno == errno.EAGAIN else refusal_message(key, error))
            return
        job.pid = self._fork(request, files, log)
        os.close(log)
        self.jobs[job.pid] = job

    def _fork(self, request: dict[str, Any], files: list[int], log: int) -> int:
        env = self._job_environment(request)
        program = self._program_path(request["command"][0], env.get("PATH", os.defpath))
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
            for file, descriptor in ((self.null, 0), (log, 1), (log, 2)):
                os.dup2(file, descriptor)
            # All processes of the job inherit its locks.
            for file in files:
                os.set_inheritable(file, True)
            if os.getppid() == parent:
                os.chdir(request["folder"])
                os.execve(program, request["command"], env)  # noqa: S606
        except OSError as error:
            os.write(2, f"rocm3d: {request['command'][0]} in {request['folder']}: {error.strerror}\n".encode())
        finally:
            os._exit(127)

    def _program_path(self, name: str, path: str) -> str:
        """Path of a program; cached, because thousands of jobs may start the same one."""
        if "/" in name:
            return name
        if (name, path) not in self.program_paths:
            candidates = (f"{folder or '.'}/{name}" for folder in path.split(os.pathsep))
            self.program_paths[name, path] = next(
                (candidate for candidate in candidates if os.access(candidate, os.X_OK)), name
            )
        return self.program_paths[name, path]

    def _job_environment(self, request: dict[str, Any]) -> dict[str, Any]:
        env = {**self.environment, **request.get("env", {}), JOB_VARIABLE: request["status"]}
        # Keep only the first mask that is set: two masks would filter twice.
        masks = [name for name in request.get("masks", ()) if env.get(name)]
        for name in {*request.get("masks", ()), *request.get("unset", ())} - set(masks[:1]):
            env.pop(name, None)
        return env

    def stop(self, key: str, reason: str) -> None:
        """Stop a job with SIGTERM, and with SIGKILL after its grace period."""
        for job in self.jobs.values():
            if job.request["key"] == key and not job.stop_reason:
                self._stop_job(job, reason)

    def _stop_job(self, job: RunningJob, reason: str) -> None:
        job.stop_reason, job.deadline = reason, time.monotonic() + job.request.get("grace", 0)
        send_signal(job.pid, signal.SIGTERM if job.request.get("grace") else signal.SIGKILL)

    def check_time_limits(self) -> float | None:
        """Stop jobs at their time limit; returns the seconds until the next limit, None if there is none."""
        now = time.monotonic()
        for job in self.jobs.values():
            if job.deadline is not None and job.deadline <= now:
                if job.stop_reason:
                    send_signal(job.pid, signal.SIGKILL)
                    job.deadline = None
                else:
                    self._stop_job(job, "timed_out")
        ends = [job.deadline for job in self.jobs.values() if job.deadline is not None]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def reap(self) -> None:
        """Reap all ended children and report the jobs among them."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.wakeup_reader, 4096)
        with contextlib.suppress(ChildProcessError):
            while (child := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
                job = self.jobs.pop(child.si_pid, None)
                if job is not None:
                    # Until it is reaped its pid is not reused, so the process group is still its own.
                    send_signal(child.si_pid, signal.SIGKILL)
                os.waitpid(child.si_pid, 0)
                if job is not None:
                    self._finish(job, child.si_status, exited=child.si_code == os.CLD_EXITED)
                self._kill_strays()

    def _finish(self, job: RunningJob, status: int, *, exited: bool) -> None:
        request, key = job.request, job.request["key"]
        code, number = (status, None) if exited else (None, status)
        if job.stop_reason:
            ending = job.stop_reason
        elif exited and status in request.get("success", (0,)):
            ending = "done"
        else:
            ending = "killed" if number in KILL_SIGNALS else "failed"
        result = job.status(ending, code=code, signal=number)
        try:
            os.pwrite(job.files[-1], pad_status(result), 0)
            os.rename(request["status"] + ".running", request["status"])  # noqa: PTH104  (pathlib is not loaded here)
            self.report({"key": key, "ended": result})
        except OSError as error:
            self.report(refusal_message(key, error))
        for file in job.files:
            os.close(file)

    def _kill_strays(self) -> None:
        """Kill processes of ended jobs that had moved to their own session."""
        strays = children() - self.jobs.keys()
        alive = {f"{JOB_VARIABLE}={job.request['status']}".encode() for job in self.jobs.values()} if strays else set()
        for pid in strays:
            with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
                marks = {entry for entry in file.read().split(b"\0") if entry.startswith(JOB_VARIABLE.encode() + b"=")}
                if marks and not marks & alive:
                    os.kill(pid, signal.SIGKILL)

    def end_all(self) -> None:
        """Kill all children. Jobs that ended by themselves meanwhile get their result, the others `interrupted`."""
        deadline = time.monotonic() + END_SECONDS
        self.reap()
        while (remaining := children()) and time.monotonic() < deadline:
            for pid in remaining:
                send_signal(pid, signal.SIGKILL)
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self._reap_all()
            time.sleep(0.002)

    def _reap_all(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (child := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG)) is not None:
                job = self.jobs.pop(child.si_pid, None)
                if job is not None:
                    exited = child.si_code == os.CLD_EXITED
                    if not exited:
                        job.stop_reason = job.stop_reason or "interrupted"
                    self._finish(job, child.si_status, exited=exited)


def open_lock_file(path: str) -> int:
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


def write_completely(file: int, content: bytes) -> None:
    """Write the content completely; raises OSError if the disk is full."""
    if os.pwrite(file, content, 0) < len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refusal_message(key: str, error: OSError) -> dict[str, Any]:
    """Message: a job could not be started, or its result could not be written."""
    return {"key": key, "refused": f"{error.filename or 'its files'}: {error.strerror}", "errno": error.errno}


def send_signal(group: int, number: int) -> None:
    """Signal a process group, or only the child if it has not created its group yet."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            os.kill(group, number)


def children() -> set[int]:
    """Ids of all children, including adopted orphans."""
    with contextlib.suppress(OSError), open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:  # noqa: PTH123
        return {int(pid) for pid in file.read().split()}
    return set()


def serve(descriptor: int, *locks: int) -> None:
    """Process requests until the socket is closed. The launcher also holds the runner lock; jobs do not inherit it."""
    connection = socket.socket(fileno=descriptor)
    for file in (descriptor, *locks):
        os.set_inheritable(file, False)

    def report(message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            connection.sendall(json.dumps(message).encode() + b"\n")

    launcher = Launcher(report)
    try:
        process_requests(launcher, connection)
    except ConnectionResetError:
        pass  # the runner was killed before it had read all messages
    finally:
        launcher.end_all()


def process_requests(launcher: Launcher, connection: socket.socket) -> None:
    """Main loop: handle requests, ended jobs and time limits until the runner closes the socket."""
    unparsed = b""
    while True:
        readable, _, _ = select.select(
            [connection.fileno(), launcher.wakeup_reader], [], [], launcher.check_time_limits()
        )
        if launcher.wakeup_reader in readable:
            launcher.reap()
        if connection.fileno() not in readable:
            continue
        chunk = connection.recv(1 << 20)
        if not chunk:
            return
        *lines, unparsed = (unparsed + chunk).split(b"\n")
        for text in lines:
            request = json.loads(text)
            if request["do"] == "start":
                launcher.start(request)
            else:
                launcher.stop(request["key"], request["why"])


def run_single(path: str) -> int:
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
        return run_guarded(json.load(file), reading)


def run_guarded(request: dict[str, Any], pipe: int) -> int:
    """Run the job until it ends or the pipe is closed."""
    messages: list[dict[str, Any]] = []
    launcher = Launcher(messages.append)

    def stop(*_: object) -> None:
        launcher.end_all()
        os._exit(1)

    signal.signal(signal.SIGTERM, stop)
    launcher.start(request)
    while launcher.jobs:
        readable, _, _ = select.select([launcher.wakeup_reader, pipe], [], [], launcher.check_time_limits())
        if pipe in readable:
            break
        launcher.reap()
    launcher.end_all()
    problem = next((message["refused"] for message in messages if "refused" in message), "")
    if problem or any("busy" in message for message in messages):
        os.write(2, f"rocm3d: {problem or 'the GPU is in use by another run'}\n".encode())
        return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(*map(int, sys.argv[2:]))
    else:
        sys.exit(run_single(sys.argv[2]))
