"""Runs one backend check in a process of the target's interpreter, so that a crash or a hang is a result too."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rocm3d.model.backend_check import BackendCheck
from rocm3d.model.errors import MachineError
from rocm3d.workspace.process import Finished, run, scratch_file

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.verify.backends.environment import Environment

SCRIPT = Path(__file__).parents[2] / "payload" / "probe_backend.py"
_MAX_OUTPUT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class BackendCheckRequest:
    """One backend check. Without `probe` the modules are only imported. `env`: variables of the plan's route."""

    package: str
    modules: tuple[str, ...]
    probe: str = ""
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> object:
        return self.package, self.modules, self.probe, tuple(sorted(self.env.items()))


def run_backend_check(request: BackendCheckRequest, environment: Environment, knowledge: Knowledge) -> BackendCheck:
    """The result; cached in the environment."""
    if request.key not in environment.cached_checks:
        started = time.monotonic()
        backend_check = _run_payload(request, environment, knowledge)
        about = {"package": request.package, "seconds": round(time.monotonic() - started, 2)}
        environment.cached_checks[request.key] = backend_check.model_copy(update=about)
    return environment.cached_checks[request.key]


def _run_payload(check_request: BackendCheckRequest, environment: Environment, knowledge: Knowledge) -> BackendCheck:
    if environment.interpreter is None:
        return BackendCheck(probe=check_request.probe, outcome="not_run", reason=environment.unavailable_reason)
    payload_request = {
        "probe": check_request.probe,
        "modules": check_request.modules,
        "device": environment.device,
        "tolerances": {item.id: [item.rtol, item.atol] for item in knowledge.tolerances.values()},
        "roots": [str(root) for root in environment.roots],
    }
    with scratch_file("request.json", json.dumps(payload_request).encode()) as request_file:
        command = [str(environment.interpreter), str(SCRIPT), str(request_file)]
        try:
            # In an empty folder: modules in the caller's folder must not be imported or overwritten.
            ended = run(
                command,
                cwd=request_file.parent,
                env={**os.environ, **check_request.env},
                seconds=environment.seconds,
                keep_bytes=_MAX_OUTPUT_BYTES,
            )
        except MachineError as error:
            return BackendCheck(probe=check_request.probe, outcome="not_run", reason=error.message)
    return _read_result(ended, check_request, environment)


def _read_result(ended: Finished, request: BackendCheckRequest, environment: Environment) -> BackendCheck:
    if ended.timed_out:
        reason = f"stopped at the {environment.seconds:g} s limit: it hangs, or compiles longer than that"
        return BackendCheck(probe=request.probe, outcome="broken", reason=reason)
    lines = ended.stdout.splitlines()
    try:
        return BackendCheck.model_validate_json(lines[-1])
    except (IndexError, ValidationError):
        stderr_lines = ended.stderr.decode(errors="replace").strip().splitlines()
        last = f": {stderr_lines[-1][:300]}" if stderr_lines else ""
        return BackendCheck(probe=request.probe, outcome="broken", reason=f"{_describe_exit(ended.code)}{last}")


def _describe_exit(code: int | None) -> str:
    """Why a process wrote no result."""
    if code is not None and code < 0:
        try:
            return f"process killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"process killed by signal {-code}"
    return f"process exited with code {code} and wrote no result"
