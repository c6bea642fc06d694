"""What Ctrl-C does: before and after a command it ends the process, during a command it is a KeyboardInterrupt.

A second Ctrl-C does not interrupt what cleans up after the first one; a third one ends the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

_CODE = 130
_LINE = b"rocm3d: interrupted\n"
_IGNORED_INTERRUPTS = 1  # during the clean-up
_POLL_SECONDS = 0.001

Handler = Callable[[int, FrameType | None], Any]


def exit_on_interrupt(_number: int = 0, _frame: FrameType | None = None) -> None:
    """A signal handler for the time when there is nothing to clean up, as during imports."""
    with contextlib.suppress(OSError):
        os.write(2, _LINE)
    os._exit(_CODE)


@contextlib.contextmanager
def exiting() -> Iterator[None]:
    """During the block Ctrl-C prints one line and ends the process."""
    with _handled_by(exit_on_interrupt):
        yield


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """During the block Ctrl-C raises KeyboardInterrupt, also if an interpreter callback swallows the first one."""
    earlier_hook = sys.unraisablehook
    sys.unraisablehook = _repeat_swallowed_interrupt
    try:
        with _handled_by(_Interrupts()):
            yield
    finally:
        sys.unraisablehook = earlier_hook


def ignore_interrupts() -> None:
    """From now on, if the block of `exiting` is left next: the interruption was reported, and the process ends."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is exit_on_interrupt or isinstance(handler, _Interrupts):
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def blocked_interrupts() -> Iterator[None]:
    """Delay Ctrl-C until the block ends. A process that is forked or a thread that is started in it never gets one."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def delayed_interrupts() -> Iterator[None]:
    """Delay Ctrl-C until the block ends: a change is made completely, and a child that was just started is not lost.

    Other than with `blocked_interrupts`, children get their signals.
    """
    received: list[int] = []
    try:
        with _handled_by(lambda number, _frame: received.append(number)):
            yield
    finally:
        if received:
            signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def _handled_by(handler: Handler) -> Iterator[None]:
    """Where the signal is ignored, as under nohup, and in other threads than the first one, nothing changes."""
    earlier = signal.getsignal(signal.SIGINT)
    try:
        if earlier is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, handler)
    except ValueError:  # another thread
        earlier = signal.SIG_IGN
    try:
        yield
    finally:
        if signal.SIG_IGN not in (earlier, signal.getsignal(signal.SIGINT)):
            signal.signal(signal.SIGINT, earlier)


class _Interrupts:
    """Raises KeyboardInterrupt, except while the stack is being unwound by an earlier one."""

    def __init__(self) -> None:
        self._ignored = 0

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        if not _is_cleaning_up():
            raise KeyboardInterrupt
        self._ignored += 1
        if self._ignored > _IGNORED_INTERRUPTS:
            process = sys.modules.get("rocm3d.workspace.process")
            if process is not None:
                process.kill_all()
            exit_on_interrupt()


def _is_cleaning_up() -> bool:
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False


def _repeat_swallowed_interrupt(unraisable: sys.UnraisableHookArgs) -> None:
    """In a finaliser or a callback of C code the interpreter prints an exception and goes on: interrupt again."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        import threading

        thread = threading.Thread(target=_interrupt_outside_of_hook, daemon=True)
        thread.start()
    else:
        sys.__unraisablehook__(unraisable)


def _interrupt_outside_of_hook() -> None:
    import threading
    import time

    main = threading.main_thread().ident or 0
    while _is_in_hook(sys._current_frames().get(main)):
        time.sleep(_POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGINT)


def _is_in_hook(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code is _repeat_swallowed_interrupt.__code__:
            return True
        frame = frame.f_back
    return False
