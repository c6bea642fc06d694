"""The only module that starts programs: no shell, a time limit, capped output, the whole process group is killed.

Temporary files and folders, for libraries and programs that read only from disk.
"""

from __future__ import annotations

import contextlib
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
from rocm3d.workspace.programs import find_program, with_absolute_path

DEFAULT_SECONDS = 60.0
DEFAULT_BYTES = 1024 * 1024
POLL_SECONDS = 0.5
HELPER_EXIT_SECONDS = 15.0
_DRAIN_SECONDS = 1.0
CLEANUP_HELPER = Path(__file__).parents[1] / "payload" / "clean_up.py"
CLEANUP_VARIABLE = "ROCM3D_KEPT_BY"

_running: set[subprocess.Popen[bytes]] = set()
_cleanup_marks: list[str] = []


@dataclass(frozen=True)
class Finished:
    """The result of a program. `capped`: the output was truncated. `code` is None after a timeout."""

    code: int | None
    stdout: bytes
    stderr: bytes
    capped: bool

    @property
    def timed_out(self) -> bool:
        """Whether it was stopped at the time limit."""
        return self.code is None


def run(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float = DEFAULT_SECONDS,
    keep_bytes: int = DEFAULT_BYTES,
) -> Finished:
    """Run a program until it ends or reaches the time limit. Its whole process group is gone afterwards.

    A name without a folder is looked up by `find_program`: never in the working folder or in a repository.
    """
    child = _start(_installed(command, env), cwd, with_absolute_path(env))
    out, err = _Drain(child.stdout, keep_bytes), _Drain(child.stderr, keep_bytes)
    code: int | None
    try:
        code = child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        code = None
    finally:
        _kill_group(child)
    return Finished(code, out.finish(), err.finish(), out.capped or err.capped)


class Watcher(Protocol):
    """Receives the output of a program while it runs."""

    def write(self, chunk: bytes, /) -> object:
        """Receive output of stdout and stderr, in order. Called from another thread."""

    def sample(self, group: int, /) -> object:
        """Called periodically with the id of the process group."""


def run_watched(
    command: Sequence[str], watcher: Watcher, *, cwd: Path, env: Mapping[str, str], seconds: float
) -> int | None:
    """Like `run`, but streams to a watcher and finds the program as a shell does, because the user names it.

    Returns the exit code, or None at the time limit.
    """
    child = _start(command, cwd, env, subprocess.STDOUT)
    drain = _Drain(child.stdout, 0, watcher.write)
    deadline = time.monotonic() + seconds
    try:
        while (remaining := deadline - time.monotonic()) > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return child.wait(timeout=min(remaining, POLL_SECONDS))
            watcher.sample(child.pid)
        return None
    finally:
        _kill_group(child)
        drain.finish()


class BackgroundProcess:
    """A program that runs in the background."""

    def __init__(self, child: subprocess.Popen[bytes], keep_bytes: int) -> None:
        self._child, self._drain = child, _Drain(child.stdout, keep_bytes)

    @property
    def has_ended(self) -> bool:
        return self._child.poll() is not None

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
    child = _start(_installed(command, env), cwd, with_absolute_path(env), subprocess.STDOUT)
    background = BackgroundProcess(child, keep_bytes)
    try:
        yield background
    finally:
        _kill_group(child)
        background._drain.finish()


@contextlib.contextmanager
def connected_helper(command: Sequence[str], *files: int) -> Iterator[socket.socket]:
    """Start a helper program that is connected by a socket. The descriptors of socket and files are its last arguments.

    It must exit when the socket closes, also if this process is killed, and has PATIENCE seconds to clean up.
    """
    own_end, helper_end = socket.socketpair()
    with helper_end:
        descriptors = (helper_end.fileno(), *files)
        with _delayed_sigint():
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


def _start(
    command: Sequence[str], cwd: Path | None, env: Mapping[str, str] | None, errors: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    child: subprocess.Popen[bytes] | None = None
    try:
        with _delayed_sigint():
            # A new session, so that one signal reaches all children.
            child = subprocess.Popen(  # noqa: S603
                list(command),
                cwd=cwd,
                env=_environment(env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
            _running.add(child)
    except KeyboardInterrupt:
        if child is not None:
            _kill_group(child)
            for stream in filter(None, (child.stdout, child.stderr)):
                stream.close()
        raise
    except OSError as error:
        if cwd is not None and not cwd.is_dir():
            raise UserError(f"cannot run {command[0]}: {cwd} is not a folder") from error
        if isinstance(error, FileNotFoundError):
            raise MachineError(f"{command[0]} is not installed") from error
        raise MachineError(f"cannot start {command[0]}: {error.strerror}") from error
    return child


@contextlib.contextmanager
def _delayed_sigint() -> Iterator[None]:
    """Delay SIGINT until the block ends. Otherwise a child that was just started could be lost and keep running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    previous_handler = signal.signal(signal.SIGINT, lambda number, _frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous_handler)
        if received:
            signal.raise_signal(signal.SIGINT)


def kill_all() -> None:
    """Kill all programs that other threads are waiting for."""
    for child in tuple(_running):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)


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
    _running.discard(child)


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
            shutil.rmtree(folder)


@contextlib.contextmanager
def scratch_file(name: str, content: bytes) -> Iterator[Path]:
    """A file with this name in a new folder that is removed afterwards."""
    with scratch_folder() as folder:
        path = folder / name
        path.write_bytes(content)
        yield path
