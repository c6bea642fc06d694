"""The plan stage: chooses the stack, decides about each dependency, and assigns recipes to files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rocm3d.model.plan import DependencyDecision, EffortCounts, Plan
from rocm3d.plan.dependencies import named, versions
from rocm3d.plan.licences import licences
from rocm3d.plan.phases import phases
from rocm3d.plan.routes import Circumstances
from rocm3d.plan.sources import Conditions, SourcePlan, source_plan
from rocm3d.plan.stacks import Question, choose
from rocm3d.plan.wishes import Wishes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.model.inventory import Readiness, Scan
    from rocm3d.model.port import Port
    from rocm3d.model.stack import Stack
    from rocm3d.model.target import Gpu

OLD_AFTER_DAYS = 180


def plan(scan: Scan, gpu: Gpu, knowledge: Knowledge, today: date, wishes: Wishes | None = None) -> Plan:
    """What to do about each finding and dependency on one GPU. Deterministic: same input, same bytes."""
    inventory, wishes = scan.inventory, wishes or Wishes()
    port = knowledge.ports.get(inventory.known_as or "")
    imported = frozenset(item.package for item in scan.findings if item.package and _is_firm_import(item))
    given = Circumstances(wishes.prefer, port.routes if port else {}, versions(inventory.dependencies), imported)
    names = named(inventory.dependencies, scan.findings, knowledge)
    chosen, judged, rejected = choose(Question(names, knowledge, gpu, given), wishes)
    decisions = judged.decisions if judged else ()
    base = judged.stack if judged else None
    decided = {item.package: item.decision for item in decisions if item.package is not None}
    sources = source_plan(scan.findings, inventory.extensions, Conditions(knowledge, decided, base, gpu))
    return Plan(
        repository=inventory.repository,
        known_as=inventory.known_as,
        gpu=gpu,
        platform=wishes.platform,
        prefer=wishes.prefer,
        stack=chosen,
        base=base,
        rejected_stacks=rejected,
        decisions=decisions,
        edits=sources.edits,
        answered=sources.answered,
        left=sources.left,
        effort=_effort(sources),
        phases=phases(knowledge.method, sources.settled, [item.finding for item in sources.left]),
        licences=licences(names.values(), port, knowledge),
        readiness=_readiness(decisions, sources, knowledge, feasible=chosen is not None),
        warnings=(
            *_warnings(decisions, base, port, today),
            *(f"{gpu.gfx}: {hazard}" for hazard in knowledge.targets[gpu.gfx].hazards),
        ),
        knowledge_date=knowledge.date.isoformat(),
    )


def _is_firm_import(finding: Finding) -> bool:
    """Notes are about optional imports."""
    return finding.severity != "note" and not finding.is_dependency


def _effort(sources: SourcePlan) -> EffortCounts:
    counts = Counter(item.effort for item in sources.left)
    counts["none"] += len(sources.settled)
    return EffortCounts.model_validate(counts)


def _readiness(
    decisions: tuple[DependencyDecision, ...], sources: SourcePlan, knowledge: Knowledge, *, feasible: bool
) -> Readiness:
    if not feasible or any(item.decision == "blocked" for item in decisions):
        return "blocked"
    if any(item.decision == "stub" for item in decisions):
        return "partial"
    codes = [*sources.edited_codes, *(left.finding.code for left in sources.left)]
    if any(not code.startswith("DEP") and not knowledge.codes[code].is_about_environment for code in codes):
        return "needs-edits"
    changed = any(item.decision != "keep" for item in decisions)
    return "ready-with-deps" if changed or sources.left else "ready"


def _warnings(
    decisions: tuple[DependencyDecision, ...], base: Stack | None, port: Port | None, today: date
) -> Iterator[str]:
    """Lost features come first."""
    for item in decisions:
        if item.decision == "stub":
            yield f"{item.name}: replaced by a stub; never counted as verified"
        if item.loses:
            yield f"{item.name}: the port loses {item.loses}"
    if port is not None and port.routes:
        yield f"Known project: {port.title}. Using package choices from its earlier port."
    if base is not None and not base.tried:
        yield f"{base.id}: few 3D packages are known to run on it"
    for item in decisions:
        age = (today - item.checked).days if item.checked else 0
        if age > OLD_AFTER_DAYS:
            yield f"{item.name}: the decision uses a fact last checked {age} days ago ({item.checked})"
