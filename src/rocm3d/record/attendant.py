"""Stays with a workload: keeps what it prints, shows it as it comes, adds up its memory, says so where it is silent."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import IO

from rocm3d.record.host_memory import HostMemory

SILENT = 60.0


class Attendant:
    """Its chunks come from a thread of their own."""

    def __init__(self, place: Path, terminal: IO[bytes] | None, cold: tuple[str, ...]) -> None:
        self.file, self.terminal, self.cold = place.open("wb"), terminal, cold
        self.lock, self.memory = threading.Lock(), HostMemory()
        self.began = self.last = self.spoke = time.monotonic()

    def write(self, chunk: bytes) -> None:
        """One chunk."""
        with self.lock:
            self.last = time.monotonic()
            for place in (self.file, self.terminal):
                if place is not None and not place.closed:
                    place.write(chunk)
                    place.flush()

    def look(self, group: int) -> None:
        """Now and then."""
        self.memory.look(group)
        self._speak()

    def _speak(self) -> None:
        """Say that it still runs, and why that may be right. Not kept: it is none of the program's own words."""
        now = time.monotonic()
        if self.terminal is None or now - max(self.last, self.spoke) < SILENT:
            return
        self.spoke = now
        why = f"; kernels may be compiling, as these caches are empty: {', '.join(self.cold)}" if self.cold else ""
        line = f"rocm3d: still running after {now - self.began:.0f} s, silent for {now - self.last:.0f} s{why}\n"
        # A terminal that has gone away is no reason to end the program.
        with contextlib.suppress(OSError, ValueError):
            self.terminal.write(line.encode())
            self.terminal.flush()

    def close(self) -> None:
        """No more is kept."""
        with self.lock:
            self.file.close()
