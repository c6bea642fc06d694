"""Monitors a running workload: saves and shows its output, samples its memory, reports long silence."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import IO

from rocm3d.record.host_memory import HostMemory

SILENT = 60.0


class Attendant:
    """`write` is called from the thread that reads the program's output, hence the lock."""

    def __init__(self, place: Path, terminal: IO[bytes] | None, cold: tuple[str, ...]) -> None:
        self.file, self.terminal, self.cold = place.open("wb"), terminal, cold
        self.lock, self.memory = threading.Lock(), HostMemory()
        self.began = self.last = self.spoke = time.monotonic()

    def write(self, chunk: bytes) -> None:
        """Append output to the file and the terminal; ignored after `close`."""
        with self.lock:
            self.last = time.monotonic()
            for place in (self.file, self.terminal):
                if place is not None and not place.closed:
                    place.write(chunk)
                    place.flush()

    def look(self, group: int) -> None:
        """Sample the memory of a process group; called every few seconds."""
        self.memory.look(group)
        self._speak()

    def _speak(self) -> None:
        """Goes to the terminal only: the saved output contains the program's own lines and nothing else."""
        now = time.monotonic()
        if self.terminal is None or now - max(self.last, self.spoke) < SILENT:
            return
        self.spoke = now
        why = f"; kernels may be compiling (empty caches: {', '.join(self.cold)})" if self.cold else ""
        line = f"rocm3d: still running after {now - self.began:.0f} s, no output for {now - self.last:.0f} s{why}\n"
        # A closed terminal must not end the program.
        with contextlib.suppress(OSError, ValueError):
            self.terminal.write(line.encode())
            self.terminal.flush()

    def close(self) -> None:
        """Close the output file; later output is dropped."""
        with self.lock:
            self.file.close()
