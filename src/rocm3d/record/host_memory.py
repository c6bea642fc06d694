"""The most memory that the processes of a workload took together, read from outside: it costs them nothing."""

from __future__ import annotations

import os
from pathlib import Path

PROC = Path("/proc")
_SESSION, _RESIDENT = 3, 21  # fields of /proc/PID/stat, counted after the name in brackets


class HostMemory:
    """Asked now and then; `peak` is in bytes, None where this system does not tell."""

    def __init__(self) -> None:
        self.peak: int | None = None

    def look(self, session: int) -> None:
        """Add up the pages of every process of that session."""
        pages = [_pages(entry, session) for entry in PROC.iterdir() if entry.name.isdigit()] if PROC.is_dir() else []
        now = sum(pages) * os.sysconf("SC_PAGE_SIZE")
        if now:
            self.peak = max(self.peak or 0, now)


def _pages(entry: Path, session: int) -> int:
    try:
        fields = (entry / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0  # it has ended meanwhile
    return int(fields[_RESIDENT]) if int(fields[_SESSION]) == session else 0
