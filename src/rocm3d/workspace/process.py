"""The only module that starts programs: no shell, a time limit, capped output, the whole process group is killed.

Temporary files and folders, for libraries and programs that read only from disk.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from rocm3d.model.errors import MachineError, UserError
from rocm3d.workspace.interrupts import delayed_interrupts
from rocm3d.workspace.programs import find_program, with_absolute_path

DEFAULT_SECONDS = 60.0
DEFAULT_BYTES = 1024 * 1024
POLL_SECONDS = 0.5
HELPER_EXIT_SECONDS = 15.0
_DRAIN_SECONDS = 1.0
CONTAIN_HELPER = Path(__file__).parents[1] / "payload" / "contain.py"
CLEANUP_HELPER = Path(__file__).parents[1] / "payload" / "clean_up.py"
CLEANUP_VARIABLE = "ROCM3D_KEPT_BY"

_running: set[_Program] = set()
_cleanup_marks: list[str] = []


@dataclass(frozen=True)
class Limits:
    """Limits of a program and all its processes together. `file_bytes`: of one file.

    `free_bytes` stay free on the disk of `folder`. Compared every 0.1 s, on Linux only.
    """

    tasks: int
    memory_bytes: int
    file_bytes: int
    folder: Path
    free_bytes: int

    def to_json(self) -> str:
        """As the launcher payload/contain.py reads it."""
        numbers = {"tasks": self.tasks, "memory": self.memory_bytes, "file": self.file_bytes, "free": self.free_bytes}
        return json.dumps({**numbers, "folder": str(self.folder)})

    def describe(self, name: str) -> str:
        """What a program did that exceeded this limit."""
        return {
            "tasks": f"it started more than {self.tasks} processes and threads",
            "memory": f"it used more than {self.memory_bytes / 1e9:.1f} GB of memory",
            "disk": f"less than {self.free_bytes / 1e9:.1f} GB was left on the disk of {self.folder}",
        }[name]


@dataclass(frozen=True)
class Finished:
    """The result of a program. `capped`: the output was truncated. `code` is None if it was stopped at a limit.

    `exceeded`: which limit, other than the time; empty if none.
    """

    code: int | None
    stdout: bytes
    stderr: bytes
    capped: bool
    exceeded: str = ""

    @property
    def timed_out(self) -> bool:
        """Whether it was stopped at the time limit."""
        return self.code is None and not self.exceeded


def run(  # noqa: PLR0913  (all options of a program)
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float = DEFAULT_SECONDS,
    keep_bytes: int = DEFAULT_BYTES,
    contained: bool = False,
    limits: Limits | None = None,
) -> Finished:
    """Run a program until it ends or reaches the time limit. Its whole process group is gone afterwards.

    A name without a folder is looked up by `find_program`: never in the working folder or in a repository.
    With `contained`, processes that left its session are gone, too: for programs that are not ours. It costs 20 ms.
    `limits` need `contained`.
    """
    program = _start(_installed(command, env), cwd, with_absolute_path(env), contained=contained, limits=limits)
    out, err = _Drain(program.stdout, keep_bytes), _Drain(program.stderr, keep_bytes)
    code: int | None
    try:
        code = program.wait(seconds)
    except subprocess.TimeoutExpired:
        code = None
    finally:
        program.end()
    exceeded = limits.describe(program.exceeded) if limits is not None and program.exceeded else ""
    return Finished(None if exceeded else code, out.finish(), err.finish(), out.capped or err.capped, exceeded)


class Watcher(Protocol):
    """Receives the output of a program while it runs."""

    def write(self, chunk: bytes, /) -> object:
        """Receive output of stdout and stderr, in order. Called from another thread."""

    def sample(self, group: int, /) -> object:
        """Called periodically with the id of the process group."""

    def escaped(self, reason: str, /) -> object:
        """Called at the end if processes of the program may still be running."""


def run_watched(
    command: Sequence[str], watcher: Watcher, *, cwd: Path, env: Mapping[str, str], seconds: float
) -> int | None:
    """Like `run` with `contained`, but streams to a watcher and finds the program as a shell does: the user names it.

    Returns the exit code, or None at the time limit.
    """
    program = _start(command, cwd, env, subprocess.STDOUT, contained=True)
    drain = _Drain(program.stdout, 0, watcher.write)
    deadline = time.monotonic() + seconds
    try:
        while (remaining := deadline - time.monotonic()) > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return program.wait(min(remaining, POLL_SECONDS))
            watcher.sample(program.pid)
        return None
    finally:
        program.end()
        drain.finish()
        if program.survivors:
            watcher.escaped(program.survivors)


class BackgroundProcess:
    """A program that runs in the background."""

    def __init__(self, program: _Program, keep_bytes: int) -> None:
        self._program, self._drain = program, _Drain(program.stdout, keep_bytes)

    @property
    def has_ended(self) -> bool:
        return self._program.child.poll() is not None

    @property
    def output(self) -> bytes:
        """The output so far of stdout and stderr, up to the limit; complete once the program has ended."""
        return self._drain.finish() if self.has_ended else bytes(self._drain.output)


@contextlib.contextmanager
def run_in_background(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    keep_bytes: int = DEFAULT_BYTES,
) -> Iterator[BackgroundProcess]:
    """Run a program during the block, then kill its whole process group."""
    program = _start(_installed(command, env), cwd, with_absolute_path(env), subprocess.STDOUT)
    background = BackgroundProcess(program, keep_bytes)
    try:
        yield background
    finally:
        program.end()
        background._drain.finish()


@contextlib.contextmanager
def connected_helper(command: Sequence[str], *files: int) -> Iterator[socket.socket]:
    """Start a helper program that is connected by a socket. The descriptors of socket and files are its last arguments.

    It must exit when the socket closes, also if this process is killed, and has PATIENCE seconds to clean up.
    """
    own_end, helper_end = socket.socketpair()
    with helper_end:
        descriptors = (helper_end.fileno(), *files)
        with delayed_interrupts():
            child = subprocess.Popen(  # noqa: S603
                [*command, *map(str, descriptors)],
                stdin=subprocess.DEVNULL,
                pass_fds=descriptors,
                start_new_session=True,
            )
    try:
        yield own_end
    finally:
        own_end.close()
        try:
            child.wait(timeout=HELPER_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            _kill_group(child)


def _installed(command: Sequence[str], env: Mapping[str, str] | None) -> Sequence[str]:
    """The command with the path of its program."""
    if os.sep in command[0]:
        return command
    program = find_program(command[0], os.environ if env is None else env)
    if program is None:
        raise MachineError(f"{command[0]} is not installed")
    return [program, *command[1:]]


class _Program:
    """A running program in its own session. `pid` is its id and that of its process group."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.child, self.pid = child, child.pid
        self.exceeded = ""
        self.survivors = "" if sys.platform == "linux" else "processes outside its session are ended on Linux only"

    @property
    def stdout(self) -> IO[bytes] | None:
        return self.child.stdout

    @property
    def stderr(self) -> IO[bytes] | None:
        return self.child.stderr

    def wait(self, seconds: float) -> int:
        """The exit code, or the negative number of a signal. Raises TimeoutExpired."""
        return self.child.wait(timeout=seconds)

    def kill(self) -> None:
        """Kill it; `end` is called later, by the thread that waits for it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill it and its process group, and wait for its end."""
        _kill_group(self.child)
        _running.discard(self)


class _ContainedProgram(_Program):
    """A program below the launcher payload/contain.py, which ends all its descendants when `control` closes."""

    def __init__(self, launcher: subprocess.Popen[bytes], control: int, status: IO[bytes]) -> None:
        super().__init__(launcher)
        self._control, self._status = control, status
        # The program may stop its launcher at once.
        while not select.select([status], [], [], POLL_SECONDS)[0]:
            launcher.send_signal(signal.SIGCONT)
        started = status.readline().split()
        self.error = OSError(int(started[1]), os.strerror(int(started[1]))) if started[:1] == [b"failed"] else None
        self.pid = int(started[1]) if started[:1] == [b"started"] else launcher.pid
        self._code: int | None = None

    def wait(self, seconds: float) -> int:
        code = super().wait(seconds)
        self._read_end()
        return code if self._code is None else self._code

    def kill(self) -> None:
        self.child.terminate()
        self.child.send_signal(signal.SIGCONT)

    def end(self) -> None:
        if self._control >= 0:
            os.close(self._control)
            self._control = -1
        # The program may have stopped its launcher, which then sees no end of the pipe.
        self.child.send_signal(signal.SIGCONT)
        try:
            self.child.wait(timeout=HELPER_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self._read_end()
        _running.discard(self)

    def _read_end(self) -> None:
        """Read the last line of the launcher, once."""
        if self._status.closed:
            return
        with self._status:
            ended = self._status.readline().split()
        if ended[:1] == [b"ended"]:
            self._code = None if ended[1] == b"none" else int(ended[1])
            self.exceeded = "" if ended[3] == b"-" else ended[3].decode()
            self.survivors = f"{int(ended[2])} processes cannot be killed" if int(ended[2]) else ""
        elif self.error is None:
            self.survivors = "the process that ends them was killed"
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)


def _start(  # noqa: PLR0913  (all options of a program)
    command: Sequence[str],
    cwd: Path | None,
    env: Mapping[str, str] | None,
    errors: int = subprocess.PIPE,
    *,
    contained: bool = False,
    limits: Limits | None = None,
) -> _Program:
    program: _Program | None = None
    try:
        with delayed_interrupts():
            if contained and sys.platform == "linux":
                program = _start_contained(command, cwd, _environment(env), errors, limits)
            else:
                program = _start_plain(command, cwd, _environment(env), errors)
            _running.add(program)
        if isinstance(program, _ContainedProgram) and program.error is not None:
            _abandon(program)
            raise program.error
    except KeyboardInterrupt:
        if program is not None:
            _abandon(program)
        raise
    except OSError as error:
        if cwd is not None and not cwd.is_dir():
            raise UserError(f"cannot run {command[0]}: {cwd} is not a folder") from error
        if isinstance(error, FileNotFoundError):
            raise MachineError(f"{command[0]} is not installed") from error
        raise MachineError(f"cannot start {command[0]}: {error.strerror}") from error
    return program


def _abandon(program: _Program) -> None:
    program.end()
    for stream in filter(None, (program.stdout, program.stderr)):
        stream.close()


def _start_plain(
    command: Sequence[str], cwd: Path | None, env: Mapping[str, str] | None, errors: int, pass_fds: Sequence[int] = ()
) -> _Program:
    # A new session, so that one signal reaches all children.
    return _Program(
        subprocess.Popen(  # noqa: S603
            list(command),
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            pass_fds=pass_fds,
        )
    )


def _start_contained(
    command: Sequence[str], cwd: Path | None, env: Mapping[str, str] | None, errors: int, limits: Limits | None
) -> _ContainedProgram:
    launcher_end, control = os.pipe()
    reading, launcher_status = os.pipe()
    environment = dict(os.environ if env is None else env)
    # Only the program gets the mark: the cleanup helper must not kill the launcher before its descendants.
    mark = environment.pop(CLEANUP_VARIABLE, "")
    launcher = [sys.executable, "-I", "-S", str(CONTAIN_HELPER), str(launcher_end), str(launcher_status), mark]
    try:
        arguments = [limits.to_json() if limits else "", *command]
        child = _start_plain([*launcher, *arguments], cwd, environment, errors, (launcher_end, launcher_status)).child
    except BaseException:
        os.close(control)
        os.close(reading)
        raise
    finally:
        os.close(launcher_end)
        os.close(launcher_status)
    return _ContainedProgram(child, control, os.fdopen(reading, "rb"))


def kill_all() -> None:
    """Kill all programs that other threads are waiting for."""
    for program in tuple(_running):
        program.kill()


@contextlib.contextmanager
def cleanup_if_killed(folder: Path) -> Iterator[None]:
    """If this process is killed during the block, a helper process removes the folder and kills our children."""
    mark = secrets.token_hex(8)
    helper = subprocess.Popen(  # noqa: S603
        [sys.executable, "-I", str(CLEANUP_HELPER), mark, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _cleanup_marks.append(mark)
    try:
        yield
    finally:
        _cleanup_marks.remove(mark)
        helper.kill()
        helper.wait()
        assert helper.stdin is not None
        helper.stdin.close()


def _environment(env: Mapping[str, str] | None) -> dict[str, str] | None:
    """The environment, with the mark by which the cleanup helper finds our children if one is active."""
    if not _cleanup_marks:
        return None if env is None else dict(env)
    return {**(os.environ if env is None else env), CLEANUP_VARIABLE: _cleanup_marks[-1]}


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    # After a normal exit the group is usually gone.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


class _Drain(threading.Thread):
    """Reads a pipe to its end, so that the child never blocks. Stores the first bytes and forwards all of them."""

    def __init__(self, stream: IO[bytes] | None, max_bytes: int, forward: Callable[[bytes], object] = len) -> None:
        super().__init__(daemon=True)
        assert stream is not None
        self.stream, self.max_bytes, self.forward, self.output, self.capped = (
            stream,
            max_bytes,
            forward,
            bytearray(),
            False,
        )
        self.start()

    def run(self) -> None:
        # The thread owns the pipe and closes it. os.read returns output at once, not after 64 KiB.
        with self.stream:
            while chunk := os.read(self.stream.fileno(), 65536):
                remaining = self.max_bytes - len(self.output)
                self.output += chunk[:remaining]
                self.capped = self.capped or len(chunk) > remaining
                # A closed receiver must not affect the program.
                with contextlib.suppress(OSError, ValueError):
                    self.forward(chunk)

    def finish(self) -> bytes:
        # A child that left our session can hold the pipe open forever; do not wait for its output.
        self.join(timeout=_DRAIN_SECONDS)
        if self.is_alive() and self._is_complete():
            self.join()  # the output is complete; the thread was only slow on a busy machine
        self.capped = self.capped or self.is_alive()
        return bytes(self.output)

    def _is_complete(self) -> bool:
        """Whether all writers of the pipe have closed it."""
        poll = select.poll()
        try:
            poll.register(self.stream, 0)
        except ValueError:
            return True  # closed by the thread in the meantime
        return any(event & select.POLLHUP for _, event in poll.poll(0))


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="rocm3d-") as folder:
        yield Path(folder)


@contextlib.contextmanager
def guarded_scratch_folder() -> Iterator[Path]:
    """An empty folder that is removed even if this process is killed, together with the programs it started."""
    # The cleanup helper knows the name before the folder exists, so there is no gap.
    folder = Path(tempfile.gettempdir()) / f"rocm3d-{secrets.token_hex(8)}"
    with cleanup_if_killed(folder):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            remove_folder(folder)


def remove_folder(folder: Path) -> None:
    """Remove a folder that other programs wrote to: also without permissions, or nested too deeply for Python."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        run(["chmod", "-R", "u+rwX", str(folder)])
        run(["rm", "-rf", "--", str(folder)])


@contextlib.contextmanager
def scratch_file(name: str, content: bytes) -> Iterator[Path]:
    """A file with this name in a new folder that is removed afterwards."""
    with scratch_folder() as folder:
        path = folder / name
        path.write_bytes(content)
        yield path
