"""Compares the results of each planned package with a reference, within the tolerances of the knowledge base."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.model.verdict import Verdict
from rocm3d.verify.backends.package_checks import check_packages, numerics_verdict
from rocm3d.verify.probe import Case, Probe


def attempt(case: Case) -> Iterator[Verdict]:
    """Uses the results of level backend; each operation runs once."""
    return check_packages(case, probe, numerics_verdict)


probe = Probe(__name__, "numerics", attempt)
