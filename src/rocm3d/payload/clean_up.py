"""Waits for the end of its parent process, then removes its processes and its folder.

    python -I clean_up.py MARK FOLDER

Stdin is a pipe that is closed when the parent ends in any way. Then every process with the mark in its environment is
killed, and the folder is removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

MAX_ROUNDS = 40
PAUSE = 0.05


def marked_processes(mark: str) -> list[int]:
    """Ids of processes whose environment contains the mark."""
    entry_text, pids = f"ROCM3D_KEPT_BY={mark}".encode(), []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry_text in (entry / "environ").read_bytes().split(b"\0"):
                    pids.append(int(entry.name))
    return pids


def clean(mark: str, folder: str) -> None:
    """Kill marked processes and remove the folder; repeated, because a process may just be starting."""
    quiet_rounds = 0
    for _ in range(MAX_ROUNDS):
        running = marked_processes(mark)
        for pid in running:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
        quiet_rounds = 0 if running or Path(folder).exists() else quiet_rounds + 1
        if quiet_rounds == 3:
            return
        time.sleep(PAUSE)


if __name__ == "__main__":
    sys.stdin.buffer.read()
    clean(sys.argv[1], sys.argv[2])
