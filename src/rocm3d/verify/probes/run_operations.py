"""Runs the main operation of each planned package on the GPU and checks which kernels ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Verdict
from rocm3d.verify.backends.verdicts import accelerated
from rocm3d.verify.backends.visit import visit
from rocm3d.verify.probe import Case, Probe

if TYPE_CHECKING:
    from rocm3d.model.look import BackendCheck


def attempt(case: Case) -> tuple[Verdict, ...]:
    """A torch that is not a ROCm build fails, even if the operation runs."""
    return visit(case, "backend", probe.name, _told)


def _told(look: BackendCheck, name: str, planned: str) -> Verdict:
    if look.outcome == "accelerated" and "hip" in look.facts and not look.facts["hip"]:
        reason = f"{look.label}: {look.facts.get('version', '')} is not a ROCm build"
        return Verdict(level="backend", probe=name, outcome="failed", reason=reason)
    return accelerated(look, name, planned)


probe = Probe(__name__, "backend", attempt)
