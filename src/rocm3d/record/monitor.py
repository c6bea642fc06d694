"""Monitors a running workload: saves and shows its output, samples its memory, reports long silence."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import IO

from rocm3d.record.host_memory import HostMemory

SILENCE_SECONDS = 60.0


class WorkloadMonitor:
    """`write` is called from the thread that reads the program's output, hence the lock."""

    def __init__(self, output_path: Path, terminal: IO[bytes] | None, cold_caches: tuple[str, ...]) -> None:
        self.file, self.terminal, self.cold_caches = output_path.open("wb"), terminal, cold_caches
        self.lock, self.memory = threading.Lock(), HostMemory()
        self.began = self.last_output = self.last_notice = time.monotonic()

    def write(self, chunk: bytes) -> None:
        """Append output to the file and the terminal; ignored after `close`."""
        with self.lock:
            self.last_output = time.monotonic()
            for stream in (self.file, self.terminal):
                if stream is not None and not stream.closed:
                    stream.write(chunk)
                    stream.flush()

    def sample(self, group: int) -> None:
        """Sample the memory of a process group; called every few seconds."""
        self.memory.sample(group)
        self._report_silence()

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
        """Close the output file; later output is dropped."""
        with self.lock:
            self.file.close()
