"""An exclusive file lock that ends with the process that holds it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from rocm3d.model.errors import UserError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from pathlib import Path

_TIMEOUT_SECONDS, _POLL_SECONDS = 20.0, 0.02


@contextmanager
def file_lock(path: Path, seconds: float = _TIMEOUT_SECONDS) -> Iterator[None]:
    """Hold an exclusive lock on `<file>.lock`. The lock file is never removed: that would allow two holders."""
    lock = path.with_name(f"{path.name}.lock")
    with lock.open("a") as stream:
        deadline = time.monotonic() + seconds
        while not _try_lock(stream):
            if time.monotonic() > deadline:
                raise UserError(f"another rocm3d has held {lock} for {seconds:.0f} s", hint="retry when it is done")
            time.sleep(_POLL_SECONDS)
        yield


def _try_lock(stream: IO[str]) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
