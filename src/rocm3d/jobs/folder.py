"""Folder of a run of jobs, .rocm3d/jobs/NAME next to jobs.toml: journal, status files and logs."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.errors import MachineError, UserError
from rocm3d.workspace.state import work_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

# Seconds that the launcher of a killed runner may take to end its jobs.
_LAUNCHER_EXIT_SECONDS = 20.0


class DiskFullError(MachineError):
    """The disk is full; no further job is started."""

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"no space left on the disk of {folder}: no further job is started",
            hint="free some space and run the jobs again; finished jobs are not repeated",
        )


@dataclass(frozen=True)
class RunFolder:
    """Paths of the files of one run."""

    root: Path

    @property
    def journal(self) -> Path:
        """The SQLite journal."""
        return self.root / "journal.sqlite"

    @property
    def lock(self) -> Path:
        """Lock file of the runner; contains its process id and start time."""
        return self.root / "runner.lock"

    def status(self, job: str, attempt: int) -> Path:
        """Status file of an attempt; it has the suffix `.running` until the attempt has ended."""
        return self.root / "status" / f"{job}.{attempt}"

    def log(self, job: str, attempt: int) -> Path:
        """Output of an attempt."""
        return self.root / "logs" / f"{job}.{attempt}.txt"

    @contextmanager
    def hold_lock(self) -> Iterator[int]:
        """Hold the runner lock; yields its file descriptor. Waits for the launcher of a killed runner to end."""
        with self.lock.open("a+b") as file:
            end = time.monotonic() + _LAUNCHER_EXIT_SECONDS
            while not _try_lock(file.fileno()):
                pid = self.runner_pid()
                if pid is not None:
                    raise UserError(
                        f"process {pid} is already running the jobs of {self.root}",
                        hint="see `rocm3d jobs status`; stop it with Ctrl-C in its terminal or `rocm3d jobs cancel`",
                    )
                if time.monotonic() > end:
                    raise MachineError(f"{self.lock} is still held by a process that an earlier runner started")
                time.sleep(0.02)
            self._write_owner(file.fileno())
            try:
                yield file.fileno()
            finally:
                os.ftruncate(file.fileno(), 0)

    def _write_owner(self, descriptor: int) -> None:
        try:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()} {_start_time(os.getpid())}\n".encode())
        except OSError as error:
            raise DiskFullError(str(self.root)) from error

    def runner_pid(self) -> int | None:
        """Process id of the current runner; None if there is none."""
        try:
            fields = self.lock.read_bytes().split()
        except OSError:
            return None
        if len(fields) != 2 or not all(field.isdigit() for field in fields):
            return None
        # Process ids are reused, so the start time must match too.
        return int(fields[0]) if _start_time(int(fields[0])) == int(fields[1]) else None


def run_folder(path: Path, work: Path | None) -> RunFolder:
    """The run folder of a jobs.toml; created if missing."""
    root = work if work is not None else work_folder(path.parent, None) / "jobs" / path.stem
    for folder in (root.parent, root) if work is None else ():
        if folder.is_symlink():
            raise UserError(f"{folder} is a symlink; rocm3d does not write through it", hint="remove it")
    try:
        for name in ("status", "logs"):
            (root / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{root}: {error.strerror}", hint="pass another folder with --work") from error
    return RunFolder(root.resolve())


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start_time(pid: int) -> int | None:
    """Start time of a process in clock ticks since boot; None if it has ended or is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])
