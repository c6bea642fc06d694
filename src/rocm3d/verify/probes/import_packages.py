"""Imports each planned package in the target's environment and checks which file it is loaded from."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.model.verdict import Verdict
from rocm3d.verify.backends.package_checks import check_packages, import_verdict
from rocm3d.verify.probe import Case, Probe


def attempt(case: Case) -> Iterator[Verdict]:
    """Checks the import only. Whether the GPU is used is level backend."""
    return check_packages(case, probe, import_verdict)


probe = Probe(__name__, "import", attempt)
