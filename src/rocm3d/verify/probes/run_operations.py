"""Runs the main operation of each planned package on the GPU and checks which kernels ran."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.model.verdict import Verdict
from rocm3d.verify.backends.package_checks import backend_verdict, check_packages
from rocm3d.verify.probe import Case, Probe


def attempt(case: Case) -> Iterator[Verdict]:
    """A torch that is not a ROCm build fails, even if the operation runs."""
    return check_packages(case, probe, backend_verdict)


probe = Probe(__name__, "backend", attempt)
