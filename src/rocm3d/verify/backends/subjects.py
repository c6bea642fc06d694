"""Which packages of a plan there are to look at, and what the plan means to happen to each."""

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
    """One package. `planned` says why the slow path is meant, `aside` why there is nothing to look at."""

    package: str
    question: Question | None = None
    planned: str = ""
    aside: tuple[Outcome, str] | None = None


def subjects(plan: Plan, knowledge: Knowledge) -> Iterator[Subject]:
    """What every look rests on first, then each package that the plan decides on, once."""
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
    planned = f"route {decision.route} is the plan's" if means_slow else ""
    return Subject(package.id, Question(package.id, package.imports, package.probe, decision.env), planned)


def _aside(decision: DependencyDecision, package: Package) -> tuple[Outcome, str] | None:
    if decision.decision == "drop":
        return "skipped", "left out by the plan"
    if decision.decision == "blocked":
        return "not_run", "blocked, as the plan has no route"
    if not package.imports:
        return "skipped", "not imported by a name of its own"
    if decision.import_kept:
        return None
    if decision.decision in ("stub", "substitute"):
        return "skipped", "planned fallback, imported by another name"
    return "not_run", "imported by another name on the plan's route"
