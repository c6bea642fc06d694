"""The interface of all engines: start attempts, stop them, report how they ended."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rocm3d.jobs.gpus import MASKS
from rocm3d.jobs.status_files import read_attempt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from rocm3d.jobs.folder import RunFolder
    from rocm3d.jobs.slots import Slot
    from rocm3d.jobs.specification import Job
    from rocm3d.jobs.status_files import Attempt

LAUNCHER = Path(__file__).parents[1] / "payload" / "launch_jobs.py"
# rocm3d itself. With -c Python imports from the working folder first, which may be a repository.
ROCM3D = (
    sys.executable,
    "-c",
    "import sys; sys.path[:] = filter(None, sys.path); from rocm3d.cli.main import main; main()",
)
# Variables by which a job knows itself: see docs/jobs.md.
JOB_ID, ATTEMPT, ATTEMPT_ID = "ROCM3D_JOB_ID", "ROCM3D_ATTEMPT", "ROCM3D_ATTEMPT_ID"
_NO_LIMIT = 10 * 365 * 86400.0
# Seconds for the recorder to write its bundle after a timeout.
_RECORDER_SECONDS = 60.0


@dataclass(frozen=True)
class ScheduledAttempt:
    """One attempt of one job on one slot."""

    job: Job
    attempt: int
    slot: Slot
    folder: RunFolder
    id: str = ""

    @property
    def key(self) -> str:
        """Id of the attempt, unique within a run."""
        return f"{self.job.id}.{self.attempt}"

    def request(self) -> dict[str, Any]:
        """The JSON request for the launcher."""
        job, slot = self.job, self.slot
        identity = {"job": job.id, "digest": job.digest, "attempt": self.attempt, "slot": slot.name, "id": self.id}
        env = {**job.env, JOB_ID: job.id, ATTEMPT: str(self.attempt), ATTEMPT_ID: self.id}
        message: dict[str, Any] = {
            "do": "start",
            "key": self.key,
            "command": self.command,
            "folder": job.folder,
            "log": str(self.folder.log(job.id, self.attempt)),
            "status": str(self.folder.status(job.id, self.attempt)),
            "success": job.success,
            "seconds": self.seconds,
            "grace": job.grace,
            "about": identity,
        }
        if slot.lock:
            message["lock"] = slot.lock
        if slot.gpu is not None or slot.env:
            return message | {"env": {**env, **dict(slot.env)}, "unset": slot.unset}
        return message | {"env": env}

    @property
    def command(self) -> Sequence[str]:
        """The job's command; with `evidence`, run by `rocm3d run`, which writes an evidence bundle."""
        if not self.job.evidence:
            return self.job.command
        limit = f"{self.job.timeout or _NO_LIMIT:.3f}s"
        return [*ROCM3D, "run", "--name", self.job.id, "--limit", limit, "--", *self.job.command]

    @property
    def seconds(self) -> float | None:
        """Time limit in seconds. With `evidence` the recorder enforces it and gets extra time to write its bundle."""
        return self.job.timeout + _RECORDER_SECONDS if self.job.evidence and self.job.timeout else self.job.timeout

    def remote_request(self, masks: Sequence[str] = MASKS) -> dict[str, Any]:
        """Request for a launcher under a scheduler that sets GPU masks: only the first mask that is set is kept."""
        return self.request() | {"masks": masks}

    def remote_command(self, masks: Sequence[str] = MASKS) -> list[str]:
        """Command that a scheduler runs: the launcher, with the request in a file of the run folder."""
        path = self.folder.root / "requests" / f"{self.key}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(self.remote_request(masks)), encoding="utf-8")
        return [sys.executable, "-I", "-S", str(LAUNCHER), "one", str(path)]

    def read_status(self) -> Attempt:
        """The attempt as its status file has it; without an ending if it has not ended."""
        path = self.folder.status(self.job.id, self.attempt)
        name = path.name if path.exists() else f"{path.name}.running"
        return read_attempt(path.parent, self.attempt, name)


@dataclass(frozen=True)
class AttemptEvent:
    """A change of an attempt. `over` has its result in `attempt`; `lost` means that only the status file has it."""

    key: str
    kind: Literal["begun", "busy", "refused", "over", "lost"]
    attempt: Attempt | None = None
    text: str = ""
    full: bool = False


class Engine(Protocol):
    """A context manager: on exit it ends everything that it started."""

    name: str

    def __enter__(self) -> Engine: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def slots(self) -> Sequence[Slot]:
        """Slots on which jobs can run."""

    def notes(self) -> Sequence[str]:
        """Messages about the slots for the user."""

    def start(self, tasks: Sequence[ScheduledAttempt]) -> None:
        """Start attempts; results arrive as events."""

    def adopt(self, task: ScheduledAttempt, remote: str) -> bool:
        """Take over an attempt that an earlier runner started; False if the engine no longer has it."""

    def stop(self, key: str, ending: str) -> None:
        """Stop an attempt; `why` is `cancelled` or `interrupted`."""

    def events(self, seconds: float) -> Sequence[AttemptEvent]:
        """Events since the last call; waits up to `seconds` for the first one."""
