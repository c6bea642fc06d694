"""The plan stage: chooses the stack, decides about each dependency, and assigns recipes to files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from operator import attrgetter
from pathlib import PurePosixPath

from packaging.specifiers import SpecifierSet

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.finding import Finding
from rocm3d.model.inventory import Extension, Readiness, Scan
from rocm3d.model.method import Method, Phase
from rocm3d.model.package import Decision
from rocm3d.model.plan import (
    KNOWN_PROJECT,
    DependencyDecision,
    EffortCounts,
    LicenceNotice,
    Plan,
    PlannedEdit,
    PlannedPhase,
    UnresolvedFinding,
)
from rocm3d.model.port import Port
from rocm3d.model.recipe import Recipe
from rocm3d.model.stack import Stack
from rocm3d.model.target import Gpu
from rocm3d.plan.bounds import RepositoryBounds
from rocm3d.plan.index_assignment import INDEX_RULE, assign_indexes, index_tasks, with_wheel_indexes
from rocm3d.plan.releases import BUILD_TOOLS, releases, with_releases
from rocm3d.plan.routes import RepositoryConstraints, package_by_distribution, required_versions
from rocm3d.plan.stacks import PlanOptions, StackCriteria, choose_stack

OLD_AFTER_DAYS = 180


@dataclass(frozen=True)
class PlanContext:
    """What decides how a finding is fixed. `decided` maps package ids to the plan's decision.

    `index_tasks` maps the place of an index to what is left for a person.
    """

    knowledge: Knowledge
    decided: Mapping[str, Decision]
    stack: Stack | None
    gpu: Gpu
    index_tasks: Mapping[tuple[str, int], str] = field(default_factory=dict)


@dataclass(frozen=True)
class SourcePlan:
    """Every finding, except notes without an edit, is in at least one of these."""

    edits: tuple[PlannedEdit, ...]
    answered: tuple[Finding, ...]
    left: tuple[UnresolvedFinding, ...]

    @property
    def resolved(self) -> tuple[Finding, ...]:
        """Findings that need no manual work. One finding can have an edit and another fix."""
        edited = (finding for edit in self.edits for finding in edit.findings)
        return tuple(dict.fromkeys((*edited, *self.answered)))

    @property
    def codes_needing_edits(self) -> set[str]:
        """Codes that only an edit fixes."""
        answered = set(self.answered)
        planned = (finding for edit in self.edits for finding in edit.findings if finding not in answered)
        return {finding.code for finding in planned if finding.severity != "note"}


def plan(scan: Scan, gpu: Gpu, knowledge: Knowledge, today: date, options: PlanOptions | None = None) -> Plan:
    """What to do about each finding and dependency on one GPU. Deterministic: same input, same bytes.

    A finding that the repository hides gets no edit, but counts for the decisions and for the readiness.
    """
    inventory, options, every = scan.inventory, options or PlanOptions(), scan.all_findings
    port = knowledge.ports.get(inventory.known_as or "")
    required = (item for item in every if item.severity != "note" and not item.is_dependency)
    imported = frozenset(item.package for item in required if item.package)  # notes are about optional imports
    constraints = RepositoryConstraints(
        options.prefer, port.routes if port else {}, required_versions(inventory.dependencies), imported
    )
    names = package_by_distribution(inventory.dependencies, every, knowledge)
    bounds = RepositoryBounds.of(inventory)
    chosen, evaluation, rejected = choose_stack(StackCriteria(names, knowledge, gpu, constraints, bounds), options)
    decisions = evaluation.decisions if evaluation else ()
    base = evaluation.stack if evaluation else None
    unmet = [] if evaluation is None else [f"{evaluation.stack.id}: {text}" for text in evaluation.unmet]
    decisions = assign_indexes(decisions, inventory.other_indexes, inventory.dependencies)
    if base is not None:
        decisions = with_wheel_indexes(decisions, bounds, base, knowledge.wheels)
    decisions = tuple(with_releases(item, knowledge.distributions.values()) for item in decisions)
    decided = {item.package: item.decision for item in decisions if item.package is not None}
    context = PlanContext(knowledge, decided, base, gpu, index_tasks(decisions, inventory.other_indexes))
    sources = source_plan(scan.findings, inventory.extensions, context)
    all_sources = source_plan(every, inventory.extensions, context) if scan.hidden else sources
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
        tools=releases(BUILD_TOOLS, knowledge.distributions.values()),
        other_indexes=inventory.other_indexes,
        edits=sources.edits,
        answered=sources.answered,
        left=sources.left,
        effort=_effort(sources),
        phases=plan_phases(
            knowledge.method,
            sources.resolved,
            [item.finding for item in sources.left],
            is_complete=not inventory.unscanned,
        ),
        licences=licence_notices(names.values(), port, knowledge),
        hidden=inventory.hidden,
        readiness=_readiness(
            decisions, all_sources, knowledge, feasible=chosen is not None, is_complete=not inventory.unscanned
        ),
        warnings=(
            *_warnings(decisions, base, port, today),
            *unmet,
            *(f"{gpu.gfx}: {hazard}" for hazard in knowledge.targets[gpu.gfx].hazards),
        ),
        knowledge_date=knowledge.date.isoformat(),
    )


def _effort(sources: SourcePlan) -> EffortCounts:
    counts = Counter(leftover.effort for leftover in sources.left)
    counts["none"] += len(sources.resolved)
    return EffortCounts.model_validate(counts)


def _readiness(
    decisions: tuple[DependencyDecision, ...],
    sources: SourcePlan,
    knowledge: Knowledge,
    *,
    feasible: bool,
    is_complete: bool,
) -> Readiness:
    if not feasible or any(decision.decision == "blocked" for decision in decisions):
        return "blocked"
    if any(item.effort == "rewrite" for item in sources.left):
        return "rewrite"
    if any(decision.decision == "stub" for decision in decisions):
        return "partial"
    codes = [*sources.codes_needing_edits, *(left.finding.code for left in sources.left)]
    if any(not code.startswith("DEP") and not knowledge.codes[code].is_about_environment for code in codes):
        return "needs-edits"
    if sources.left or any(item.decision != "keep" for item in decisions):
        return "ready-with-deps"
    return "ready" if is_complete else "partial"


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
    method: Method | None, answered: Sequence[Finding], left: Sequence[Finding], *, is_complete: bool = True
) -> tuple[PlannedPhase, ...]:
    """All phases in order. A phase whose codes have no finding is skipped, with a reason.

    If the scan is not complete, the reason is about what was scanned.
    """
    phases = () if method is None else tuple(_planned_phase(phase, answered, left) for phase in method.phases)
    if is_complete:
        return phases
    return tuple(
        phase.model_copy(update={"skipped": f"{phase.skipped} in what was scanned"}) if phase.skipped else phase
        for phase in phases
    )


def _planned_phase(phase: Phase, answered: Sequence[Finding], left: Sequence[Finding]) -> PlannedPhase:
    done, open_ = (sum(finding.code.startswith(phase.codes) for finding in findings) for findings in (answered, left))
    if phase.codes and not done and not open_:
        return PlannedPhase(number=phase.number, title=phase.title, skipped=phase.skip_if or "no findings")
    return PlannedPhase(number=phase.number, title=phase.title, answered=done, left=open_, do=phase.do)


def source_plan(findings: Sequence[Finding], extensions: Sequence[Extension], context: PlanContext) -> SourcePlan:
    """Group the findings by how they are fixed; edits are sorted by path."""
    grouped: dict[tuple[str, str], list[Finding]] = {}
    answered: list[Finding] = []
    left: list[UnresolvedFinding] = []
    for finding in sorted(findings, key=attrgetter("path", "line", "column", "code")):
        recipe = context.knowledge.recipe_for(finding.code)
        task = _index_task(finding, context)
        reason = task or _reason_left(finding, recipe, context)
        extra_recipe = context.knowledge.recipe_also_resolving(finding.code, finding.package)
        if extra_recipe is not None and _recipe_mismatch(extra_recipe, context.stack, context.gpu) is None:
            grouped.setdefault((finding.path, extra_recipe.id), []).append(finding)
            if reason is not None:
                continue  # the edit fixes it
        if finding.severity == "note" and task is None:
            continue
        if reason is not None:
            effort = context.knowledge.codes[finding.code].effort
            left.append(UnresolvedFinding(finding=finding, reason=reason, effort=effort))
        elif context.knowledge.codes[finding.code].answered_by == "recipe" and recipe is not None:
            grouped.setdefault((finding.path, recipe.id), []).append(finding)
        else:
            answered.append(finding)
    edits = (
        _planned_edit(context.knowledge.recipes[recipe], path, edit_findings, extensions)
        for (path, recipe), edit_findings in sorted(grouped.items())
    )
    return SourcePlan(tuple(edits), tuple(answered), tuple(left))


def _reason_left(finding: Finding, recipe: Recipe | None, context: PlanContext) -> str | None:
    """Why a finding needs manual work; None if something fixes it."""
    answer = context.knowledge.codes[finding.code].answered_by
    if answer == "addition":
        # The port's install.sh and Dockerfile replace all other install instructions of the repository.
        return None if context.stack is not None else "no known stack supports this GPU: nothing to install"
    if answer == "decision":
        return _missing_decision(finding, context)
    if answer == "person":
        return "needs your decision about the program"
    if recipe is None:
        return "no recipe yet"
    if recipe.safety == "manual":
        return f"recipe {recipe.id} is advice, not an automatic edit"
    return _recipe_mismatch(recipe, context.stack, context.gpu)


def _index_task(finding: Finding, context: PlanContext) -> str | None:
    """What a person has to install from the index that the finding is about."""
    return context.index_tasks.get((finding.path, finding.line)) if finding.rule == INDEX_RULE else None


def _missing_decision(finding: Finding, context: PlanContext) -> str | None:
    if finding.package is None:
        return "no known replacement for this package"
    return f"{finding.package} is blocked" if context.decided.get(finding.package, "blocked") == "blocked" else None


def _recipe_mismatch(recipe: Recipe, stack: Stack | None, gpu: Gpu) -> str | None:
    when = recipe.applies_when
    if when.wave_size is not None and when.wave_size != gpu.wave_size:
        return f"recipe {recipe.id} is for wave size {when.wave_size}"
    if stack is None:
        return None
    for component, required, available in (("ROCm", when.rocm, stack.rocm), ("torch", when.torch, stack.torch)):
        if required and not SpecifierSet(required).contains(available, prereleases=True):
            return f"recipe {recipe.id} is for {component} {required}"
    return None


def _planned_edit(recipe: Recipe, path: str, findings: list[Finding], extensions: Sequence[Extension]) -> PlannedEdit:
    parameters = dict(recipe.parameters)
    if _is_built_by_torch(path, extensions):
        parameters["guard"] = "torch"
    return PlannedEdit(
        recipe=recipe.id,
        rewrite=recipe.rewrite,
        parameters=parameters,
        safety=recipe.safety,
        check=recipe.check,
        path=path,
        findings=tuple(findings),
    )


def _is_built_by_torch(path: str, extensions: Sequence[Extension]) -> bool:
    """Whether BuildExtension compiles the file, so that USE_ROCM alone is a sufficient guard."""
    builders = {
        extension.how
        for extension in extensions
        if path in (str(PurePosixPath(extension.location.path).parent / source) for source in extension.sources)
    }
    return builders == {"build_extension"}
