"""Peak host memory of all processes of a workload, sampled from /proc without slowing them down."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rocm3d.model.run import MemoryPoint

# With more samples than this, every second one is dropped and the sampling interval doubles.
POINTS = 400
PROC = Path("/proc")
_SESSION, _RESIDENT = 3, 21  # fields of /proc/PID/stat, counted after the name in brackets


class HostMemory:
    """`peak` is in bytes; None if /proc is missing or the session has no processes."""

    def __init__(self) -> None:
        self.peak: int | None = None
        self.looks: list[tuple[float, int]] = []
        self._every, self._turn = 1, 0

    def points(self, began: float) -> tuple[MemoryPoint, ...]:
        """Non-zero samples, in seconds since `began` (monotonic clock)."""
        return tuple(MemoryPoint(seconds=round(max(0.0, at - began), 2), bytes=taken) for at, taken in self.looks)

    def look(self, session: int) -> None:
        """Sum the resident memory of every process of a session."""
        pages = [_pages(entry, session) for entry in PROC.iterdir() if entry.name.isdigit()] if PROC.is_dir() else []
        now = sum(pages) * os.sysconf("SC_PAGE_SIZE")
        if now:
            self.peak = max(self.peak or 0, now)
            self._keep(now)

    def _keep(self, taken: int) -> None:
        self._turn += 1
        if self._turn % self._every:
            return
        self.looks.append((time.monotonic(), taken))
        if len(self.looks) > POINTS:
            self.looks, self._every = self.looks[::2], 2 * self._every


def _pages(entry: Path, session: int) -> int:
    try:
        fields = (entry / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0  # the process ended meanwhile
    return int(fields[_RESIDENT]) if int(fields[_SESSION]) == session else 0
