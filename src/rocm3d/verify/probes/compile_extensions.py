"""Compiles every native extension for the targets and reads the code objects back. Nothing is linked or run."""

from __future__ import annotations

from rocm3d.model.verdict import Verdict
from rocm3d.verify.compilation.shared_results import NO_EXTENSION, compile_with_hip, find_case_kit
from rocm3d.verify.probe import Case, Probe


def attempt(case: Case) -> tuple[Verdict, ...]:
    """One verdict for each build script, and for each translation unit and target."""
    kit = find_case_kit(case)
    from rocm3d.verify.compilation.verdicts import VerdictContext, report_verdicts

    report = compile_with_hip(case, kit)
    context = VerdictContext(probe, kit, case.knowledge.codes, case.compile_options.budget.reason)
    return tuple(report_verdicts(report, context)) or (probe.verdict("skipped", NO_EXTENSION),)


probe = Probe(__name__, "compile", attempt)
