"""The packages of a plan that backend checks cover, and what the plan does with each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.verify.backends.check_process import BackendCheckRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.package import Package
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.model.verdict import Outcome


@dataclass(frozen=True)
class PlannedPackage:
    """One package. `fallback_reason`: why a fallback is planned. `exclusion`: why there is nothing to check."""

    package: str
    request: BackendCheckRequest | None = None
    fallback_reason: str = ""
    exclusion: tuple[Outcome, str] | None = None


def planned_packages(plan: Plan, knowledge: Knowledge) -> Iterator[PlannedPackage]:
    """The base packages first, as every check needs them; then each package with a decision, once."""
    base_ids = [name for suite in knowledge.suites.values() if suite.base for name in suite.packages]
    for name in base_ids:
        package = knowledge.packages[name]
        yield PlannedPackage(name, BackendCheckRequest(name, package.imports, package.probe))
    known_ids = set(base_ids)
    for decision in plan.decisions:
        record = knowledge.packages.get(decision.package or "")
        if record is not None and record.id not in known_ids:
            known_ids.add(record.id)
            yield _planned_package(decision, record)


def _planned_package(decision: DependencyDecision, package: Package) -> PlannedPackage:
    exclusion = _exclusion(decision, package)
    if exclusion is not None:
        return PlannedPackage(package.id, exclusion=exclusion)
    route = next((route for route in package.routes if route.id == decision.route), None)
    is_fallback = decision.decision in ("stub", "substitute") or (route is not None and route.fallback)
    fallback_reason = f"the plan uses route {decision.route}" if is_fallback else ""
    return PlannedPackage(
        package.id, BackendCheckRequest(package.id, package.imports, package.probe, decision.env), fallback_reason
    )


def _exclusion(decision: DependencyDecision, package: Package) -> tuple[Outcome, str] | None:
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
