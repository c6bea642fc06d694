"""Backend checks in the target's environment, each in a process, so that a crash or a hang is a result too.

The kernels that ran correct the outcome: a loaded library without kernels is a fallback.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rocm3d.knowledge.base import Knowledge, backend_of_kernel
from rocm3d.model.backend import Backend
from rocm3d.model.backend_check import BackendCheck
from rocm3d.model.errors import MachineError
from rocm3d.workspace.process import Finished, run, scratch_file

SECONDS = 300.0  # kernels may be compiled on their first call
SCRIPT = Path(__file__).parents[2] / "payload" / "probe_backend.py"
_MAX_OUTPUT_BYTES = 4 * 1024 * 1024


@dataclass
class Environment:
    """`unavailable_reason`: why no check can run; empty if it can. `cached_checks` are shared by all probes.

    `device` is cuda, torch's name for every GPU. With cpu only the numerical comparisons run.
    """

    interpreter: Path | None = None
    unavailable_reason: str = "no Python environment of the target found. Pass --python path/to/python"
    roots: tuple[Path, ...] = ()
    device: str = "cuda"
    seconds: float = SECONDS
    cached_checks: dict[object, BackendCheck] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, interpreter: Path, *roots: Path) -> Environment:
        """With an interpreter. `roots`: folders outside the environment that packages may come from."""
        return cls(interpreter, "", roots)


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
    """The result, corrected by the kernels that ran; cached in the environment."""
    if request.key not in environment.cached_checks:
        started = time.monotonic()
        backend_check = with_kernel_evidence(_run_payload(request, environment, knowledge), knowledge.backends)
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
                contained=True,
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


def with_kernel_evidence(backend_check: BackendCheck, backends: Mapping[str, Backend]) -> BackendCheck:
    """A copy with the backends that the kernel names belong to, and the outcome that follows from them."""
    if backend_check.kernels is None:
        return _without_profile(backend_check)
    kernel_backends = {name: backend_of_kernel(name, backends.values()) for name in backend_check.kernels}
    updated = backend_check.model_copy(
        update={"backends": _labels(kernel_backends.values()), "facts": _with_backends(backend_check.facts, backends)}
    )
    compute_kernels = {
        name: backend for name, backend in kernel_backends.items() if backend is None or backend.operation != "copy"
    }
    if backend_check.outcome not in ("accelerated", "fallback") or not backend_check.checks:
        return updated
    reason = _fallback_reason(backend_check, compute_kernels)
    if backend_check.outcome == "accelerated" and reason:
        return updated.model_copy(update={"outcome": "fallback", "reason": reason})
    if (
        backend_check.outcome == "fallback"
        and backend_check.evidence == "library"
        and _specific_backends(compute_kernels)
    ):
        # No library, but kernels of this package: compiled just in time, as with Triton.
        labels = ", ".join(_labels(_specific_backends(compute_kernels)))
        return updated.model_copy(update={"outcome": "accelerated", "reason": f"its kernels ran: {labels}"})
    return updated


def _without_profile(backend_check: BackendCheck) -> BackendCheck:
    """Without a profile a loaded library is still evidence; a check that relies on kernel names is not_run."""
    if (
        backend_check.outcome != "accelerated"
        or backend_check.evidence != "kernels"
        or not backend_check.facts.get("gpu")
    ):
        return backend_check
    reason = f"the kernels that ran are unknown: {backend_check.facts.get('profile', 'no profile')}"
    return backend_check.model_copy(update={"outcome": "not_run", "reason": reason})


def _with_backends(facts: dict[str, Any], backends: Mapping[str, Backend]) -> dict[str, Any]:
    """Adds the backends to each kind of attention that was checked separately."""
    attention_kinds = {
        kind: {**result, "backends": _labels(backend_of_kernel(name, backends.values()) for name in result["kernels"])}
        if isinstance(result.get("kernels"), list)
        else result
        for kind, result in facts.get("kinds", {}).items()
    }
    return {**facts, "kinds": attention_kinds} if attention_kinds else facts


def _fallback_reason(backend_check: BackendCheck, compute_kernels: Mapping[str, Backend | None]) -> str:
    if backend_check.evidence == "provider":
        return ""
    if not compute_kernels:
        return "only copies ran on the device"
    if backend_check.evidence == "kernels" and not _specific_backends(compute_kernels):
        return f"only kernels of plain torch ran: {', '.join(_labels(compute_kernels.values()))}"
    if backend_check.evidence == "library" and all(
        backend is not None and not backend.is_specific for backend in compute_kernels.values()
    ):
        labels = ", ".join(_labels(compute_kernels.values()))
        return f"its library is loaded, but only kernels of other libraries ran: {labels}"
    return ""


def _specific_backends(compute_kernels: Mapping[str, Backend | None]) -> list[Backend]:
    return [backend for backend in compute_kernels.values() if backend is not None and backend.is_specific]


def _labels(backends: Iterable[Backend | None]) -> tuple[str, ...]:
    return tuple(sorted({backend.backend if backend else "not known by name" for backend in backends}))
