"""Compares the results of each planned package with a reference, within the tolerances of the knowledge base."""

from __future__ import annotations

from rocm3d.model.verdict import Verdict
from rocm3d.verify.backends.package_checks import check_packages, numerics_verdict
from rocm3d.verify.probe import Case, Probe


def attempt(case: Case) -> tuple[Verdict, ...]:
    """Uses the results of level backend; each operation runs once."""
    return check_packages(case, "numerics", probe.name, numerics_verdict)


probe = Probe(__name__, "numerics", attempt)
