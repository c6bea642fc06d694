"""Tells failures of the moment, such as a GPU without free memory, from failures of an installation.

Only the latter may be kept: the former say nothing about the next call. Imports no torch.
"""

from __future__ import annotations

import errno
import re
import signal

ERROR_NUMBERS = frozenset(
    (
        errno.EAGAIN, errno.EBUSY, errno.EDQUOT, errno.EINTR, errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM,
        errno.ENOSPC, errno.ESTALE, errno.ETIMEDOUT, errno.ETXTBSY,
    )
)  # fmt: skip
# A process that others end: the out-of-memory killer, a scheduler, Ctrl-C, a limit of CPU time, a full disk under mmap.
SIGNALS = frozenset(
    (
        signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGXCPU,
        signal.SIGXFSZ, signal.SIGBUS,
    )
)  # fmt: skip
# As Python, the CUDA and HIP runtimes, their libraries, the drivers and libc write them.
_TEXT = re.compile(
    r"out of ?memory|OutOfMemory|cannot allocate memory|can't allocate memory|\bMemoryError\b|std::bad_alloc"
    r"|memory allocation fail|ALLOC_FAILED|OUT_OF_RESOURCES|out of resource: "
    r"|no space left on device|disk quota exceeded|file too large|too many open files"
    r"|resource temporarily unavailable|text file busy|stale (NFS )?file handle"
    r"|timed out|\bTimeoutE(rror|xpired)\b|ErrorLaunchTimeout|\bKeyboardInterrupt\b"
    r"|devices? (is|are) (currently )?busy|busy or unavailable|DevicesUnavailable|system not yet initialized"
    r"|SystemNotReady|Mps(ConnectionFailed|ServerNotReady|MaxClientsReached)",
    re.IGNORECASE,
)


def is_transient(error: BaseException) -> bool:
    """Whether the error, or one that caused it, may be gone at the next call."""
    visited: list[BaseException] = []
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is None or any(one is other for other in visited):
            continue
        if isinstance(one, (MemoryError, TimeoutError, KeyboardInterrupt)):
            return True
        if isinstance(one, OSError) and one.errno in ERROR_NUMBERS:
            return True
        if is_transient_text(f"{type(one).__name__}: {one}"):
            return True
        visited.append(one)
        pending += [one.__cause__, one.__context__]
    return False


def is_transient_text(text: str) -> bool:
    """Whether the text of an error, such as a traceback, names a failure of the moment."""
    return _TEXT.search(text) is not None


def first_line(error: BaseException) -> str:
    """Type and first line of the message, for a reason."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:120]}"
