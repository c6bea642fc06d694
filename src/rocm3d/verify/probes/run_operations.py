"""Runs the main operation of each planned package on the GPU and checks which kernels ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Verdict
from rocm3d.verify.backends.package_checks import backend_verdict, check_packages
from rocm3d.verify.probe import Case, Probe

if TYPE_CHECKING:
    from rocm3d.model.backend_check import BackendCheck


def attempt(case: Case) -> tuple[Verdict, ...]:
    """A torch that is not a ROCm build fails, even if the operation runs."""
    return check_packages(case, "backend", probe.name, _verdict)


def _verdict(backend_check: BackendCheck, name: str, planned: str) -> Verdict:
    if backend_check.outcome == "accelerated" and "hip" in backend_check.facts and not backend_check.facts["hip"]:
        reason = f"{backend_check.label}: {backend_check.facts.get('version', '')} is not a ROCm build"
        return Verdict(level="backend", probe=name, outcome="failed", reason=reason)
    return backend_verdict(backend_check, name, planned)


probe = Probe(__name__, "backend", attempt)
