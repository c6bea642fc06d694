"""Runs the backend checks of levels import, backend and numerics: one verdict for each package of the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.model.verdict import Level, Verdict
from rocm3d.verify.backends.check_process import run_backend_check
from rocm3d.verify.backends.kernel_evidence import with_kernel_evidence
from rocm3d.verify.backends.planned_packages import planned_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocm3d.model.backend_check import BackendCheck
    from rocm3d.model.verdict import Outcome
    from rocm3d.verify.probe import Case

    MakeVerdict = Callable[[BackendCheck, str, str], Verdict]

_NO_CHECK: tuple[Outcome, str] = ("not_run", "no backend check exists")


def check_packages(case: Case, level: Level, probe: str, make_verdict: MakeVerdict) -> tuple[Verdict, ...]:
    """A verdict for each package. Packages without a check share one verdict for each reason."""
    if case.knowledge is None or case.environment.unavailable_reason:
        reason = case.environment.unavailable_reason or "no knowledge base loaded"
        return (Verdict(level=level, probe=probe, outcome="not_run", reason=reason),)
    return tuple(_verdicts(case, level, probe, make_verdict))


def _verdicts(case: Case, level: Level, probe: str, make_verdict: MakeVerdict) -> Iterator[Verdict]:
    assert case.knowledge is not None
    excluded: dict[tuple[Outcome, str], list[str]] = {}
    for package in planned_packages(case.plan, case.knowledge):
        request = package.request
        if request is None or (level != "import" and not request.probe):
            excluded.setdefault(package.exclusion or _NO_CHECK, []).append(package.package)
            continue
        level_request = replace(request, probe="") if level == "import" else request
        backend_check = with_kernel_evidence(
            run_backend_check(level_request, case.environment, case.knowledge), case.knowledge.backends
        )
        yield make_verdict(backend_check, probe, package.fallback_reason)
    for (outcome, reason), names in excluded.items():
        yield Verdict(level=level, probe=probe, outcome=outcome, reason=f"{reason}: {', '.join(names)}")
