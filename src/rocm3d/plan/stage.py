"""The plan stage: chooses the stack, decides about each dependency, and assigns recipes to files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rocm3d.model.plan import KNOWN_PROJECT, DependencyDecision, EffortCounts, LicenceNotice, Plan, PlannedPhase
from rocm3d.plan.dependencies import package_by_distribution, required_versions
from rocm3d.plan.options import PlanOptions
from rocm3d.plan.routes import RepositoryConstraints
from rocm3d.plan.sources import PlanContext, SourcePlan, source_plan
from rocm3d.plan.stacks import StackCriteria, choose_stack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.model.inventory import Readiness, Scan
    from rocm3d.model.method import Method, Phase
    from rocm3d.model.port import Port
    from rocm3d.model.stack import Stack
    from rocm3d.model.target import Gpu

OLD_AFTER_DAYS = 180


def plan(scan: Scan, gpu: Gpu, knowledge: Knowledge, today: date, options: PlanOptions | None = None) -> Plan:
    """What to do about each finding and dependency on one GPU. Deterministic: same input, same bytes."""
    inventory, options = scan.inventory, options or PlanOptions()
    port = knowledge.ports.get(inventory.known_as or "")
    imported = frozenset(item.package for item in scan.findings if item.package and _is_required_import(item))
    constraints = RepositoryConstraints(
        options.prefer, port.routes if port else {}, required_versions(inventory.dependencies), imported
    )
    names = package_by_distribution(inventory.dependencies, scan.findings, knowledge)
    chosen, evaluation, rejected = choose_stack(StackCriteria(names, knowledge, gpu, constraints), options)
    decisions = evaluation.decisions if evaluation else ()
    base = evaluation.stack if evaluation else None
    decided = {item.package: item.decision for item in decisions if item.package is not None}
    sources = source_plan(scan.findings, inventory.extensions, PlanContext(knowledge, decided, base, gpu))
    return Plan(
        repository=inventory.repository,
        known_as=inventory.known_as,
        gpu=gpu,
        platform=options.platform,
        prefer=options.prefer,
        stack=chosen,
        base=base,
        rejected_stacks=rejected,
        decisions=decisions,
        edits=sources.edits,
        answered=sources.answered,
        left=sources.left,
        effort=_effort(sources),
        phases=plan_phases(knowledge.method, sources.resolved, [item.finding for item in sources.left]),
        licences=licence_notices(names.values(), port, knowledge),
        readiness=_readiness(decisions, sources, knowledge, feasible=chosen is not None),
        warnings=(
            *_warnings(decisions, base, port, today),
            *(f"{gpu.gfx}: {hazard}" for hazard in knowledge.targets[gpu.gfx].hazards),
        ),
        knowledge_date=knowledge.date.isoformat(),
    )


def _is_required_import(finding: Finding) -> bool:
    """Notes are about optional imports."""
    return finding.severity != "note" and not finding.is_dependency


def _effort(sources: SourcePlan) -> EffortCounts:
    counts = Counter(leftover.effort for leftover in sources.left)
    counts["none"] += len(sources.resolved)
    return EffortCounts.model_validate(counts)


def _readiness(
    decisions: tuple[DependencyDecision, ...], sources: SourcePlan, knowledge: Knowledge, *, feasible: bool
) -> Readiness:
    if not feasible or any(decision.decision == "blocked" for decision in decisions):
        return "blocked"
    if any(decision.decision == "stub" for decision in decisions):
        return "partial"
    codes = [*sources.codes_needing_edits, *(left.finding.code for left in sources.left)]
    if any(not code.startswith("DEP") and not knowledge.codes[code].is_about_environment for code in codes):
        return "needs-edits"
    changed = any(decision.decision != "keep" for decision in decisions)
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
        yield f"{KNOWN_PROJECT}{port.title}. Using package choices from its earlier port."
    if base is not None and not base.tried:
        yield f"{base.id}: few 3D packages are known to run on it"
    for item in decisions:
        age = (today - item.checked).days if item.checked else 0
        if age > OLD_AFTER_DAYS:
            yield f"{item.name}: the decision uses a fact last checked {age} days ago ({item.checked})"


def licence_notices(
    packages: Iterable[str | None], port: Port | None, knowledge: Knowledge
) -> tuple[LicenceNotice, ...]:
    """Restrictive licences of the packages, sorted by id, then that of the repository itself if it is known."""
    notices = [
        LicenceNotice(package=name, licence=licence)
        for name in sorted({name for name in packages if name})
        if (licence := knowledge.packages[name].licence) is not None and licence.restrictive
    ]
    if port is not None and port.licence is not None and port.licence.restrictive:
        notices.append(LicenceNotice(package=port.title, licence=port.licence))
    return tuple(notices)


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
