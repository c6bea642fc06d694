"""Peak host memory of all processes of a workload, sampled from /proc without slowing them down."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rocm3d.model.run import MemoryPoint

# With more samples than this, every second one is dropped and the sampling interval doubles.
MAX_POINTS = 400
PROC = Path("/proc")
_SESSION, _RESIDENT = 3, 21  # fields of /proc/PID/stat, counted after the name in brackets


class HostMemory:
    """`peak` is in bytes; None if /proc is missing or the session has no processes."""

    def __init__(self) -> None:
        self.peak: int | None = None
        self.samples: list[tuple[float, int]] = []
        self._stride, self._count = 1, 0

    def points(self, began: float) -> tuple[MemoryPoint, ...]:
        """Non-zero samples, in seconds since `began` (monotonic clock)."""
        return tuple(
            MemoryPoint(seconds=round(max(0.0, moment - began), 2), bytes=used_bytes)
            for moment, used_bytes in self.samples
        )

    def sample(self, session: int) -> None:
        """Sum the resident memory of every process of a session."""
        pages = (
            [_resident_pages(entry, session) for entry in PROC.iterdir() if entry.name.isdigit()]
            if PROC.is_dir()
            else []
        )
        used_bytes = sum(pages) * os.sysconf("SC_PAGE_SIZE")
        if used_bytes:
            self.peak = max(self.peak or 0, used_bytes)
            self._store(used_bytes)

    def _store(self, used_bytes: int) -> None:
        self._count += 1
        if self._count % self._stride:
            return
        self.samples.append((time.monotonic(), used_bytes))
        if len(self.samples) > MAX_POINTS:
            self.samples, self._stride = self.samples[::2], 2 * self._stride


def _resident_pages(entry: Path, session: int) -> int:
    try:
        fields = (entry / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0  # the process ended meanwhile
    return int(fields[_RESIDENT]) if int(fields[_SESSION]) == session else 0
