"""Waits for the end of the process that started it, and cleans up after it.

    python -I clean_up.py MARK FOLDER

Stdin is a pipe that nobody writes to: it ends when the other process does, however that happens. Then every process
whose environment bears the mark is ended, and the folder is removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

ROUNDS = 40
PAUSE = 0.05


def marked(mark: str) -> list[int]:
    """Processes of ours, by the environment they were started with."""
    wanted, found = f"ROCM3D_KEPT_BY={mark}".encode(), []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def clean(mark: str, folder: str) -> None:
    """End them and remove the folder. A process that was just about to start is found in a later round."""
    quiet = 0
    for _ in range(ROUNDS):
        running = marked(mark)
        for number in running:
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
        quiet = 0 if running or Path(folder).exists() else quiet + 1
        if quiet == 3:
            return
        time.sleep(PAUSE)


if __name__ == "__main__":
    sys.stdin.buffer.read()
    clean(sys.argv[1], sys.argv[2])
