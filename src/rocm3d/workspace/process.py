"""The only way to start a program: no shell, a time limit, capped output, the whole process group ended."""

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

from rocm3d.model.failure import MachineLacks, UserError

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
    """How a program ended. `capped` says that more was printed than is kept; `code` is None after a time-out."""

    code: int | None
    stdout: bytes
    stderr: bytes
    capped: bool

    @property
    def timed_out(self) -> bool:
        """Whether the limit ended it."""
        return self.code is None


def run(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float = DEFAULT_SECONDS,
    keep_bytes: int = DEFAULT_BYTES,
) -> Finished:
    """Run a program to its end or its limit. Nothing of its process group outlives the call."""
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
    """Follows a program while it runs."""

    def write(self, chunk: bytes, /) -> object:
        """Take what it printed on either stream, in its order, from a thread of ours."""

    def look(self, group: int, /) -> object:
        """Look at its process group, every now and then."""


def follow(
    command: Sequence[str], watcher: Watcher, *, cwd: Path, env: Mapping[str, str], seconds: float
) -> int | None:
    """Like `run`, with somebody who watches; the exit code, or None when the time is up."""
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
    """A program that runs while we do something else."""

    def __init__(self, child: subprocess.Popen[bytes], keep_bytes: int) -> None:
        assert child.stdout is not None
        self._child, self._drain = child, _Drain(child.stdout, keep_bytes)

    @property
    def ended(self) -> bool:
        """Whether it has gone before we were done with it."""
        return self._child.poll() is not None

    @property
    def printed(self) -> bytes:
        """What it has printed so far, on either stream, as far as it is kept; all of it once it has ended."""
        return self._drain.finish() if self.ended else bytes(self._drain.kept)


@contextlib.contextmanager
def beside(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    keep_bytes: int = DEFAULT_BYTES,
) -> Iterator[Companion]:
    """A program for as long as the block takes; then its whole process group is ended."""
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
    """A program of ours at the other end of a socket; its last arguments are the numbers of that and of given files.

    It ends when the socket does, however that happens to us, and cleans up by itself, for which it has some seconds.
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
            # A session of its own, so that one signal reaches all its children.
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
            raise UserError(f"{cwd} is not a folder to run {command[0]} in") from error
        if isinstance(error, FileNotFoundError):
            raise MachineLacks(f"{command[0]} is not installed here") from error
        raise MachineLacks(f"{command[0]} cannot be started here: {error.strerror}") from error
    return child


@contextlib.contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Until the block is done: a child that runs and that nobody knows of yet would live on."""
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
    """End every program that another thread of ours waits for: what it was started for is no longer wanted."""
    for child in tuple(_live):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)


@contextlib.contextmanager
def kept(folder: Path) -> Iterator[None]:
    """Even where we are killed in here, a small process of our own removes the folder and ends what we started."""
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
    """As given; where somebody keeps watch, with the mark by which they find our programs."""
    if not _kept:
        return None if env is None else dict(env)
    return {**(os.environ if env is None else env), MARK: _kept[-1]}


def _end_group(child: subprocess.Popen[bytes]) -> None:
    # The group is usually gone after a normal end.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


class _Drain(threading.Thread):
    """Empties a pipe to its end, so that the child never blocks, keeps the first bytes, and hands all of them on."""

    def __init__(self, stream: IO[bytes], keep: int, then: Callable[[bytes], object] = len) -> None:
        super().__init__(daemon=True)
        self.stream, self.keep, self.then, self.kept, self.capped = stream, keep, then, bytearray(), False
        self.start()

    def run(self) -> None:
        # The thread owns the pipe and closes it. os.read: what was printed is kept at once, not after 64 KiB.
        with self.stream:
            while chunk := os.read(self.stream.fileno(), 65536):
                room = self.keep - len(self.kept)
                self.kept += chunk[:room]
                self.capped = self.capped or len(chunk) > room
                # A reader of ours that is gone does not concern the program.
                with contextlib.suppress(OSError, ValueError):
                    self.then(chunk)

    def finish(self) -> bytes:
        # A child that left our session can hold the pipe for ever; what it prints later is not ours to wait for.
        self.join(timeout=_LATE)
        if self.is_alive() and self._is_complete():
            self.join()  # all of it is there: this thread only had no turn on a busy machine
        self.capped = self.capped or self.is_alive()
        return bytes(self.kept)

    def _is_complete(self) -> bool:
        """Whether nobody can write to the pipe any more."""
        poll = select.poll()
        try:
            poll.register(self.stream, 0)
        except ValueError:
            return True  # read to its end meanwhile
        return any(event & select.POLLHUP for _, event in poll.poll(0))
