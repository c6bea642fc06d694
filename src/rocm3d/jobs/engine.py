"""What every engine offers: it starts attempts somewhere, ends them when asked, and tells what became of them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rocm3d.jobs.gpus import MASKS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from rocm3d.jobs.folder import RunFolder
    from rocm3d.jobs.slots import Slot
    from rocm3d.jobs.specification import Job
    from rocm3d.jobs.status_files import Attempt

LAUNCHER = Path(__file__).parents[1] / "payload" / "launch_jobs.py"
_ROCM3D = (sys.executable, "-c", "from rocm3d.cli.main import main; main()", "run")
_NO_LIMIT = 10 * 365 * 86400.0
# What the recorder may take to write down that a job ran out of time.
_WRITING = 60.0


@dataclass(frozen=True)
class Task:
    """One attempt of one job in one place."""

    job: Job
    attempt: int
    slot: Slot
    folder: RunFolder

    @property
    def key(self) -> str:
        """The name of this attempt among all of a run."""
        return f"{self.job.id}.{self.attempt}"

    def request(self) -> dict[str, Any]:
        """For the launcher."""
        job, slot = self.job, self.slot
        about = {"job": job.id, "digest": job.digest, "attempt": self.attempt, "slot": slot.name}
        asked: dict[str, Any] = {
            "do": "start",
            "key": self.key,
            "command": self.command,
            "folder": job.folder,
            "log": str(self.folder.log(job.id, self.attempt)),
            "status": str(self.folder.status(job.id, self.attempt)),
            "success": job.success,
            "seconds": self.seconds,
            "grace": job.grace,
            "about": about,
        }
        if slot.lock:
            asked["lock"] = slot.lock
        if slot.gpu is not None or slot.env:
            return asked | {"env": {**job.env, **dict(slot.env)}, "unset": slot.unset}
        return asked | {"env": job.env}

    @property
    def command(self) -> Sequence[str]:
        """As the job says; where evidence is wanted, under the recorder, which keeps a bundle."""
        if not self.job.evidence:
            return self.job.command
        limit = f"{self.job.timeout or _NO_LIMIT:.3f}s"
        return [*_ROCM3D, "--name", self.job.id, "--limit", limit, "--", *self.job.command]

    @property
    def seconds(self) -> float | None:
        """The time limit; with evidence the recorder keeps it, and some time to write that down."""
        return self.job.timeout + _WRITING if self.job.evidence and self.job.timeout else self.job.timeout

    def elsewhere(self, masks: Sequence[str] = MASKS) -> dict[str, Any]:
        """For a launcher on a machine whose scheduler sets masks: the first of these that is set stays alone."""
        return self.request() | {"masks": masks}


@dataclass(frozen=True)
class Event:
    """What became of an attempt. `over` brings its end; `lost` means that nobody knows but the status file."""

    key: str
    kind: Literal["begun", "busy", "refused", "over", "lost"]
    attempt: Attempt | None = None
    text: str = ""
    full: bool = False


class Engine(Protocol):
    """Used as a context: at its end nothing of it runs on."""

    name: str

    def __enter__(self) -> Engine: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def slots(self) -> Sequence[Slot]:
        """Where jobs can run."""

    def notes(self) -> Sequence[str]:
        """What there is to say about that."""

    def start(self, tasks: Sequence[Task]) -> None:
        """Begin these."""

    def adopt(self, task: Task, remote: str) -> bool:
        """Take over one that an earlier runner began; False where it cannot be known any more."""

    def end(self, key: str, why: str) -> None:
        """Ask one to end, as `cancelled` or `interrupted`."""

    def events(self, seconds: float) -> Sequence[Event]:
        """What has happened, waiting so long at most for anything to happen."""
