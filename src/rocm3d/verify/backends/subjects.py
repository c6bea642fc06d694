"""The packages of a plan that backend checks cover, and what the plan does with each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.verify.backends.ask import Question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.package import Package
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.model.verdict import Outcome


@dataclass(frozen=True)
class Subject:
    """One package. `fallback_reason`: why a fallback is planned. `exclusion`: why there is nothing to check."""

    package: str
    question: Question | None = None
    planned: str = ""
    aside: tuple[Outcome, str] | None = None


def subjects(plan: Plan, knowledge: Knowledge) -> Iterator[Subject]:
    """The base packages first, as every check needs them; then each package with a decision, once."""
    base = [name for suite in knowledge.suites.values() if suite.base for name in suite.packages]
    for name in base:
        package = knowledge.packages[name]
        yield Subject(name, Question(name, package.imports, package.probe))
    seen = set(base)
    for decision in plan.decisions:
        found = knowledge.packages.get(decision.package or "")
        if found is not None and found.id not in seen:
            seen.add(found.id)
            yield _subject(decision, found)


def _subject(decision: DependencyDecision, package: Package) -> Subject:
    aside = _aside(decision, package)
    if aside is not None:
        return Subject(package.id, aside=aside)
    route = next((route for route in package.routes if route.id == decision.route), None)
    means_slow = decision.decision in ("stub", "substitute") or (route is not None and route.fallback)
    planned = f"the plan uses route {decision.route}" if means_slow else ""
    return Subject(package.id, Question(package.id, package.imports, package.probe, decision.env), planned)


def _aside(decision: DependencyDecision, package: Package) -> tuple[Outcome, str] | None:
    if decision.decision == "drop":
        return "skipped", "dropped by the plan"
    if decision.decision == "blocked":
        return "not_run", "blocked: the plan has no route"
    if not package.imports:
        return "skipped", "has no import name"
    if decision.import_kept:
        return None
    if decision.decision in ("stub", "substitute"):
        return "skipped", "planned fallback under another import name"
    return "not_run", "the planned route uses another import name"
