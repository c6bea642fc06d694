"""The four counts at the end of every summary: changed, left for a person, not made, not verified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.evidence import Tally

if TYPE_CHECKING:
    from rocm3d.model.patch import Patch
    from rocm3d.model.plan import Plan
    from rocm3d.model.verdict import Verdicts


def tally(plan: Plan, patch: Patch, verdicts: Verdicts) -> Tally:
    """Changed files; findings left; refused edits plus blocked packages; checks not run plus stubs."""
    blocked = sum(item.decision == "blocked" for item in plan.decisions)
    not_run = sum(item.outcome == "not_run" for item in verdicts.verdicts)
    return Tally(
        changed=len(patch.changes),
        left_for_person=len(patch.left),
        rejected=len(patch.refused) + blocked,
        not_verified=not_run + len(plan.stubs),
    )
