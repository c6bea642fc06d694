"""Where a run of jobs is kept: journal, status files and logs, in .rocm3d/jobs/NAME beside jobs.toml."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.failure import MachineLacks, UserError
from rocm3d.workspace.state import work_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

# How long the launcher of a runner that was killed may take to end what it started.
_LEAVING = 20.0


class NoSpace(MachineLacks):
    """The disk is full: nothing more is started."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"no space is left on the disk of {place}: no further job is started",
            hint="make room and run it again: what is done stays done",
        )


@dataclass(frozen=True)
class RunFolder:
    """The files of one run."""

    root: Path

    @property
    def journal(self) -> Path:
        """The SQLite file."""
        return self.root / "journal.sqlite"

    @property
    def lock(self) -> Path:
        """Held by the one who runs the jobs."""
        return self.root / "runner.lock"

    def status(self, job: str, attempt: int) -> Path:
        """What the wrapper of an attempt writes; with `.running` behind it until it has ended."""
        return self.root / "status" / f"{job}.{attempt}"

    def log(self, job: str, attempt: int) -> Path:
        """What an attempt has printed."""
        return self.root / "logs" / f"{job}.{attempt}.txt"

    @contextmanager
    def held(self) -> Iterator[int]:
        """For the only runner: the number of the locked file. What a killed one leaves behind is waited for."""
        with self.lock.open("a+b") as file:
            end = time.monotonic() + _LEAVING
            while not _locked(file.fileno()):
                runner = self.runner()
                if runner is not None:
                    raise UserError(
                        f"process {runner} is already running the jobs of {self.root}",
                        hint="see `rocm3d jobs status`; end it with Ctrl-C there, or with `rocm3d jobs cancel`",
                    )
                if time.monotonic() > end:
                    raise MachineLacks(f"{self.lock} is still held by something that an earlier runner started")
                time.sleep(0.02)
            self._sign(file.fileno())
            try:
                yield file.fileno()
            finally:
                os.ftruncate(file.fileno(), 0)

    def _sign(self, number: int) -> None:
        try:
            os.ftruncate(number, 0)
            os.write(number, f"{os.getpid()} {_began(os.getpid())}\n".encode())
        except OSError as error:
            raise NoSpace(str(self.root)) from error

    def runner(self) -> int | None:
        """The process that runs the jobs now; None where there is none."""
        try:
            said = self.lock.read_bytes().split()
        except OSError:
            return None
        if len(said) != 2 or not all(word.isdigit() for word in said):
            return None
        # A number is given again to another process: only one that began then is the one.
        return int(said[0]) if _began(int(said[0])) == int(said[1]) else None


def run_folder(path: Path, work: Path | None) -> RunFolder:
    """The folder for a jobs.toml, made where it is not there."""
    root = work if work is not None else work_folder(path.parent, None) / "jobs" / path.stem
    try:
        for name in ("status", "logs"):
            (root / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{root}: {error.strerror}", hint="name another folder with --work") from error
    return RunFolder(root.resolve())


def _locked(number: int) -> bool:
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _began(pid: int) -> int | None:
    """When a process began, in ticks since the machine did; None where it is gone or waits to be reaped."""
    try:
        words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if words[0] in (b"Z", b"X") else int(words[19])
