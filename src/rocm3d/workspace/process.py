"""The only module that starts programs: no shell, a time limit, capped output, the whole process group is killed."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from rocm3d.model.failure import MachineError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

DEFAULT_SECONDS = 60.0
DEFAULT_BYTES = 1024 * 1024
LOOK_EVERY = 0.5
PATIENCE = 15.0
_LATE = 1.0
KEEPER = Path(__file__).parents[1] / "payload" / "clean_up.py"
MARK = "ROCM3D_KEPT_BY"

_live: set[subprocess.Popen[bytes]] = set()
_kept: list[str] = []


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
    """Run a program until it ends or reaches the time limit. Its whole process group is gone afterwards."""
    child = _started(command, cwd, env)
    assert child.stdout is not None
    assert child.stderr is not None
    out, err = _Drain(child.stdout, keep_bytes), _Drain(child.stderr, keep_bytes)
    code: int | None
    try:
        code = child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        code = None
    finally:
        _end_group(child)
        _live.discard(child)
    return Finished(code, out.finish(), err.finish(), out.capped or err.capped)


class Watcher(Protocol):
    """Receives the output of a program while it runs."""

    def write(self, chunk: bytes, /) -> object:
        """Receive output of stdout and stderr, in order. Called from another thread."""

    def look(self, group: int, /) -> object:
        """Called periodically with the id of the process group."""


def follow(
    command: Sequence[str], watcher: Watcher, *, cwd: Path, env: Mapping[str, str], seconds: float
) -> int | None:
    """Like `run`, but streams to a watcher. Returns the exit code, or None at the time limit."""
    child = _started(command, cwd, env, subprocess.STDOUT)
    assert child.stdout is not None
    drain = _Drain(child.stdout, 0, watcher.write)
    end = time.monotonic() + seconds
    try:
        while (left := end - time.monotonic()) > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return child.wait(timeout=min(left, LOOK_EVERY))
            watcher.look(child.pid)
        return None
    finally:
        _end_group(child)
        _live.discard(child)
        drain.finish()


class Companion:
    """A program that runs in the background."""

    def __init__(self, child: subprocess.Popen[bytes], keep_bytes: int) -> None:
        assert child.stdout is not None
        self._child, self._drain = child, _Drain(child.stdout, keep_bytes)

    @property
    def ended(self) -> bool:
        """Whether the program has ended."""
        return self._child.poll() is not None

    @property
    def printed(self) -> bytes:
        """The output so far of stdout and stderr, up to the limit; complete once the program has ended."""
        return self._drain.finish() if self.ended else bytes(self._drain.kept)


@contextlib.contextmanager
def beside(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    keep_bytes: int = DEFAULT_BYTES,
) -> Iterator[Companion]:
    """Run a program during the block, then kill its whole process group."""
    child = _started(command, cwd, env, subprocess.STDOUT)
    companion = Companion(child, keep_bytes)
    try:
        yield companion
    finally:
        _end_group(child)
        _live.discard(child)
        companion._drain.finish()


@contextlib.contextmanager
def on_call(command: Sequence[str], *files: int) -> Iterator[socket.socket]:
    """Start a helper program that is connected by a socket. The descriptors of socket and files are its last arguments.

    It must exit when the socket closes, also if this process is killed, and has PATIENCE seconds to clean up.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        numbers = (theirs.fileno(), *files)
        with _ctrl_c_waits():
            child = subprocess.Popen(  # noqa: S603
                [*command, *map(str, numbers)], stdin=subprocess.DEVNULL, pass_fds=numbers, start_new_session=True
            )
    try:
        yield ours
    finally:
        ours.close()
        try:
            child.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            _end_group(child)


def _started(
    command: Sequence[str], cwd: Path | None, env: Mapping[str, str] | None, errors: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    child: subprocess.Popen[bytes] | None = None
    try:
        with _ctrl_c_waits():
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
            _live.add(child)
    except KeyboardInterrupt:
        if child is not None:
            _end_group(child)
            _live.discard(child)
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
def _ctrl_c_waits() -> Iterator[None]:
    """Delay SIGINT until the block ends. Otherwise a child that was just started could be lost and keep running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


def end_all() -> None:
    """Kill all programs that other threads are waiting for."""
    for child in tuple(_live):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)


@contextlib.contextmanager
def kept(folder: Path) -> Iterator[None]:
    """If this process is killed during the block, a helper process removes the folder and kills our children."""
    mark = secrets.token_hex(8)
    keeper = subprocess.Popen(  # noqa: S603
        [sys.executable, "-I", str(KEEPER), mark, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _kept.append(mark)
    try:
        yield
    finally:
        _kept.remove(mark)
        keeper.kill()
        keeper.wait()
        assert keeper.stdin is not None
        keeper.stdin.close()


def _environment(env: Mapping[str, str] | None) -> dict[str, str] | None:
    """The environment, with the mark by which the cleanup helper finds our children if one is active."""
    if not _kept:
        return None if env is None else dict(env)
    return {**(os.environ if env is None else env), MARK: _kept[-1]}


def _end_group(child: subprocess.Popen[bytes]) -> None:
    # After a normal exit the group is usually gone.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


class _Drain(threading.Thread):
    """Reads a pipe to its end, so that the child never blocks. Stores the first bytes and forwards all of them."""

    def __init__(self, stream: IO[bytes], keep: int, then: Callable[[bytes], object] = len) -> None:
        super().__init__(daemon=True)
        self.stream, self.keep, self.then, self.kept, self.capped = stream, keep, then, bytearray(), False
        self.start()

    def run(self) -> None:
        # The thread owns the pipe and closes it. os.read returns output at once, not after 64 KiB.
        with self.stream:
            while chunk := os.read(self.stream.fileno(), 65536):
                room = self.keep - len(self.kept)
                self.kept += chunk[:room]
                self.capped = self.capped or len(chunk) > room
                # A closed receiver must not affect the program.
                with contextlib.suppress(OSError, ValueError):
                    self.then(chunk)

    def finish(self) -> bytes:
        # A child that left our session can hold the pipe open forever; do not wait for its output.
        self.join(timeout=_LATE)
        if self.is_alive() and self._is_complete():
            self.join()  # the output is complete; the thread was only slow on a busy machine
        self.capped = self.capped or self.is_alive()
        return bytes(self.kept)

    def _is_complete(self) -> bool:
        """Whether all writers of the pipe have closed it."""
        poll = select.poll()
        try:
            poll.register(self.stream, 0)
        except ValueError:
            return True  # closed by the thread in the meantime
        return any(event & select.POLLHUP for _, event in poll.poll(0))
