"""The phases of a port: which ones this repository needs, with their counts of findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.plan import PlannedPhase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm3d.model.finding import Finding
    from rocm3d.model.method import Method, Phase


def plan_phases(
    method: Method | None, answered: Sequence[Finding], left: Sequence[Finding]
) -> tuple[PlannedPhase, ...]:
    """All phases in order. A phase whose codes have no finding is skipped, with a reason."""
    if method is None:
        return ()
    return tuple(_planned_phase(phase, answered, left) for phase in method.phases)


def _planned_phase(phase: Phase, answered: Sequence[Finding], left: Sequence[Finding]) -> PlannedPhase:
    done, open_ = (sum(finding.code.startswith(phase.codes) for finding in findings) for findings in (answered, left))
    if phase.codes and not done and not open_:
        reason = phase.skip_if or "no findings"
        return PlannedPhase(number=phase.number, title=phase.title, skipped=reason)
    return PlannedPhase(number=phase.number, title=phase.title, answered=done, left=open_, do=phase.do)
