"""Kills a process just before its n-th change to files below some folders.

Python's audit events give the moment, so that the product needs no hook. They come before the change, and only for
changes by Python: a kill inside a write, or inside git, needs a kill at a random time.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence

# Events of the standard library before a change; each has the changed path first.
CHANGING = {
    "os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.chmod", "os.link", "os.symlink", "os.truncate", "os.utime",
    "shutil.rmtree",
}  # fmt: skip
WRITING = os.O_WRONLY | os.O_RDWR


def changes_tree(event: str, arguments: Sequence[object], *roots: str) -> bool:
    """Whether an audit event precedes a change below one of the folders.

    A relative path counts too: it belongs to an open folder, and only the tree is written that way.
    """
    if event == "open":
        mode = arguments[2]
        return isinstance(mode, int) and bool(mode & WRITING) and _is_below(arguments[0], roots)
    return event in CHANGING and _is_below(arguments[0], roots)


def _is_below(path: object, roots: Sequence[str]) -> bool:
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    text = os.fsdecode(path)
    return text.startswith(tuple(roots)) or not text.startswith("/")


def kill_before_change(limit: int | None, *roots: str) -> Callable[[], int]:
    """From now on count changes below the folders, and end this process by SIGKILL before change `limit`.

    Returns the counter. An audit hook cannot be removed: call this in a process of its own.
    """
    change_count = [0]

    def watch(event: str, arguments: Sequence[object]) -> None:
        if changes_tree(event, arguments, *roots):
            if change_count[0] == limit:
                os.kill(os.getpid(), signal.SIGKILL)
            change_count[0] += 1

    sys.addaudithook(watch)
    return lambda: change_count[0]


def run_until_killed(root: object, work: Callable[[], object], limit: int | None = None) -> int | None:
    """Run `work` in a child, killed before change `limit`; returns the number of changes, or None if killed."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        count = kill_before_change(limit, str(root))
        try:
            work()
            os.write(send, str(count()).encode())
        finally:
            os._exit(0)
    os.close(send)
    with os.fdopen(receive, "rb") as stream:
        reported_count = stream.read()
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    if killed != (reported_count == b""):
        raise AssertionError(f"the child ended with status {status} and reported {reported_count!r}")
    return int(reported_count) if reported_count else None
