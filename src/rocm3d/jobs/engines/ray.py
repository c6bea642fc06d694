"""Engine for Ray. Ray refuses ROCR_VISIBLE_DEVICES and sets HIP_VISIBLE_DEVICES, so masks are translated.

Source: ray-project/ray issue 53737 and pull request 51104.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rocm3d.jobs.engine import AttemptEvent
from rocm3d.jobs.gpus import HIP, MASKS, ROCR, hip_mask
from rocm3d.jobs.slots import Slot
from rocm3d.jobs.status_files import with_stop_reason
from rocm3d.model.errors import MachineError
from rocm3d.workspace.process import run
from rocm3d.workspace.topology import read_topology

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from types import TracebackType

    from rocm3d.jobs.engine import ScheduledAttempt
    from rocm3d.jobs.folder import RunFolder
    from rocm3d.jobs.specification import Jobs
    from rocm3d.workspace.topology import Topology

_FOREVER = 10.0 * 365 * 86400
_MASK_ORDER = (HIP, *(name for name in MASKS if name != HIP))


def run_attempt(command: list[str]) -> None:
    """The function that Ray runs: the launcher for one job, which ends with Ray's worker."""
    run(command, seconds=_FOREVER)


def translate_masks(environment: MutableMapping[str, str], topology: Topology) -> None:
    """Replace ROCR_VISIBLE_DEVICES, which Ray refuses, by HIP_VISIBLE_DEVICES."""
    if ROCR in environment:
        environment[HIP] = hip_mask(environment, topology)
        del environment[ROCR]


class RayEngine:
    """Starts a local Ray, or connects to the address in jobs.toml."""

    name = "ray"

    def __init__(self, jobs: Jobs, folder: RunFolder) -> None:
        self._jobs, self._folder = jobs, folder
        self._tasks: dict[str, ScheduledAttempt] = {}
        self._refs: dict[str, Any] = {}
        self._stop_reasons: dict[str, str] = {}
        # No telemetry.
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        translate_masks(os.environ, read_topology())
        try:
            ray: Any = importlib.import_module("ray")  # an extra, with few types
        except ImportError as error:
            raise MachineError("engine ray: Ray is not installed", hint="pip install 'rocm3d[ray]'") from error
        self._ray = ray
        try:
            ray.init(address=jobs.ray.address, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise MachineError(f"cannot connect to Ray: {str(error).strip().splitlines()[-1]}") from error
        resources = ray.cluster_resources()
        gpus = jobs.ray.gpus if jobs.ray.gpus is not None else float(resources.get("GPU", 0) > 0)
        self._function = ray.remote(max_retries=0, num_cpus=jobs.ray.cpus, num_gpus=gpus)(run_attempt)
        capacities = [resources.get("CPU", 1) / jobs.ray.cpus, *([resources.get("GPU", 0) / gpus] if gpus else [])]
        self._slot_count = jobs.run.slots or max(1, int(min(capacities)))

    def __enter__(self) -> RayEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel running attempts; they end with their workers."""
        for ref in self._refs.values():
            self._ray.cancel(ref, force=True)
        self._ray.shutdown()

    def slots(self) -> Sequence[Slot]:
        """As many slots as Ray has CPUs and GPUs for."""
        return [Slot(f"ray-{number + 1}") for number in range(self._slot_count)]

    def notes(self) -> Sequence[str]:
        """The nodes are not checked."""
        return ["not verified that jobs see one GPU: Ray assigns the GPUs"]

    def start(self, tasks: Sequence[ScheduledAttempt]) -> None:
        """Submit each attempt as a Ray task."""
        for task in tasks:
            self._tasks[task.key] = task
            self._refs[task.key] = self._function.remote(task.remote_command(_MASK_ORDER))

    def adopt(self, task: ScheduledAttempt, remote: str) -> bool:  # noqa: ARG002  (one signature for all engines)
        """Always False: Ray ends the tasks of a driver with the driver."""
        return False

    def stop(self, key: str, ending: str) -> None:
        """End the worker, and with it the launcher and the job."""
        if key in self._refs:
            self._stop_reasons[key] = ending
            self._ray.cancel(self._refs[key], force=True)

    def events(self, seconds: float) -> Sequence[AttemptEvent]:
        """Attempts that have ended; the result comes from the status file."""
        keys = {ref: key for key, ref in self._refs.items()}
        ready, _ = self._ray.wait(list(keys), num_returns=len(keys), timeout=0)
        if not ready:
            ready, _ = self._ray.wait(list(keys), num_returns=1, timeout=seconds)
        return [self._finish(keys[ref]) for ref in ready]

    def _finish(self, key: str) -> AttemptEvent:
        del self._refs[key]
        ended = self._tasks.pop(key).read_status()
        return AttemptEvent(key, "over", with_stop_reason(ended, self._stop_reasons.pop(key, "")))
