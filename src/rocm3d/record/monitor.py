"""Monitors a running workload: saves and shows its output, samples its memory, reports long silence."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path
from typing import IO

from rocm3d.model.run import MemoryPoint
from rocm3d.record.output_file import OutputFile
from rocm3d.record.redact import Redactor

SILENCE_SECONDS = 60.0


class WorkloadMonitor:
    """`write` is called from the thread that reads the program's output, hence the lock."""

    def __init__(
        self,
        output_path: Path,
        terminal: IO[bytes] | None,
        cold_caches: tuple[str, ...],
        redactor: Redactor | None = None,
    ) -> None:
        self.output = OutputFile(output_path, redactor or Redactor())
        self.terminal, self.cold_caches, self.is_closed = terminal, cold_caches, False
        self.survivors = ""
        self.lock, self.memory = threading.Lock(), HostMemory()
        self.began = self.last_output = self.last_notice = time.monotonic()

    def write(self, chunk: bytes) -> None:
        """Save output without secrets, and show it as it is on the terminal; ignored after `close`."""
        with self.lock:
            if self.is_closed:
                return
            self.last_output = time.monotonic()
            try:
                self.output.write(chunk)
            finally:
                if self.terminal is not None and not self.terminal.closed:
                    self.terminal.write(chunk)
                    self.terminal.flush()

    def sample(self, group: int) -> None:
        """Sample the memory of a process group; called every few seconds."""
        self.memory.sample(group)
        self._report_silence()

    def escaped(self, reason: str) -> None:
        """Note that processes of the program may still be running."""
        self.survivors = reason

    def _report_silence(self) -> None:
        """Goes to the terminal only: the saved output contains the program's own lines and nothing else."""
        now = time.monotonic()
        if self.terminal is None or now - max(self.last_output, self.last_notice) < SILENCE_SECONDS:
            return
        self.last_notice = now
        why = f"; kernels may be compiling (empty caches: {', '.join(self.cold_caches)})" if self.cold_caches else ""
        line = (
            f"rocm3d: still running after {now - self.began:.0f} s, no output for {now - self.last_output:.0f} s{why}\n"
        )
        # A closed terminal must not end the program.
        with contextlib.suppress(OSError, ValueError):
            self.terminal.write(line.encode())
            self.terminal.flush()

    def close(self) -> None:
        """Complete the output file; later output is dropped."""
        with self.lock:
            self.is_closed = True
            self.output.close()


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
