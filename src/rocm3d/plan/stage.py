"""The plan itself: choose the stack, decide every dependency, bind recipes to files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.plan import DependencyDecision, Plan
from rocm3d.plan.sources import Conditions, SourcePlan, source_plan
from rocm3d.plan.stacks import choose

if TYPE_CHECKING:
    from datetime import date

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.inventory import Readiness, Scan
    from rocm3d.model.target import Gpu

OLD_AFTER_DAYS = 180


def plan(scan: Scan, gpu: Gpu, knowledge: Knowledge, today: date, stack: str | None = None) -> Plan:
    """What to do about each finding and dependency on one GPU. Same input, same bytes."""
    inventory = scan.inventory
    chosen, judged, rejected = choose(inventory.dependencies, knowledge, gpu, stack)
    decisions = judged.decisions if judged else ()
    base = judged.stack if judged else None
    decided = {item.package: item.decision for item in decisions if item.package is not None}
    sources = source_plan(scan.findings, inventory.extensions, Conditions(knowledge, decided, base, gpu))
    return Plan(
        repository=inventory.repository,
        gpu=gpu,
        stack=chosen,
        base=base,
        rejected_stacks=rejected,
        decisions=decisions,
        edits=sources.edits,
        answered=sources.answered,
        left=sources.left,
        readiness=_readiness(decisions, sources, feasible=chosen is not None),
        warnings=_warnings(decisions, knowledge, gpu, today),
        knowledge_date=knowledge.date.isoformat(),
    )


def _readiness(decisions: tuple[DependencyDecision, ...], sources: SourcePlan, *, feasible: bool) -> Readiness:
    if not feasible or any(item.decision == "blocked" for item in decisions):
        return "blocked"
    if any(item.decision == "stub" for item in decisions):
        return "partial"
    if sources.edits or any(not left.finding.is_dependency for left in sources.left):
        return "needs-edits"
    changed = any(item.decision != "keep" for item in decisions)
    return "ready-with-deps" if changed or sources.left else "ready"


def _warnings(
    decisions: tuple[DependencyDecision, ...], knowledge: Knowledge, gpu: Gpu, today: date
) -> tuple[str, ...]:
    found = [
        f"{item.name}: a stand-in is used, never counted as verified" for item in decisions if item.decision == "stub"
    ]
    for item in decisions:
        if item.package is None or item.route is None:
            continue
        route = next(route for route in knowledge.packages[item.package].routes if route.id == item.route)
        age = (today - route.checked).days
        if age > OLD_AFTER_DAYS:
            found.append(f"{item.name}: the deciding fact was checked {age} days ago ({route.checked})")
    return (*found, *(f"{gpu.gfx}: {hazard}" for hazard in knowledge.targets[gpu.gfx].hazards))
