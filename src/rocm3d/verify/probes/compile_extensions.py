"""Compiles every native extension for the targets and reads the code objects back. Nothing is linked or run."""

from __future__ import annotations

from rocm3d.model.verdict import Verdict
from rocm3d.verify.compilation.verdicts import of_report, verdict
from rocm3d.verify.compilation.visit import NO_EXTENSION, amd, kit_of
from rocm3d.verify.probe import Case, Probe


def attempt(case: Case) -> tuple[Verdict, ...]:
    """One verdict for each build script and each translation unit."""
    kit = kit_of(case)
    if isinstance(kit, str):
        return (verdict(probe.name, "not_run", kit),)
    return tuple(of_report(probe.name, amd(case, kit), kit)) or (verdict(probe.name, "skipped", NO_EXTENSION),)


probe = Probe(__name__, "compile", attempt)
