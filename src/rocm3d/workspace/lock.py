"""An exclusive file lock that ends with the process that holds it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from rocm3d.model.failure import UserError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS, _PAUSE = 20.0, 0.02


@contextmanager
def alone(place: Path, seconds: float = _SECONDS) -> Iterator[None]:
    """Hold an exclusive lock on `<file>.lock`. The lock file is never removed: that would allow two holders."""
    lock = place.with_name(f"{place.name}.lock")
    with lock.open("a") as stream:
        until = time.monotonic() + seconds
        while not _taken(stream):
            if time.monotonic() > until:
                raise UserError(f"another rocm3d has held {lock} for {seconds:.0f} s", hint="retry when it is done")
            time.sleep(_PAUSE)
        yield


def _taken(stream: IO[str]) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
