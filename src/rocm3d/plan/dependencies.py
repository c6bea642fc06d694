"""One decision for every distribution that the repository names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.model.plan import DependencyDecision, Rejected
from rocm3d.plan.fit import misfit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.inventory import Dependency
    from rocm3d.model.package import Package, Route
    from rocm3d.model.stack import Stack
    from rocm3d.model.target import Gpu


def decide(
    dependencies: Iterable[Dependency], knowledge: Knowledge, stack: Stack, gpu: Gpu
) -> tuple[DependencyDecision, ...]:
    """A decision for each distinct name, in name order."""
    named = {str(canonicalize_name(item.name)): item for item in sorted(dependencies, key=_order) if item.name}
    return tuple(_decision(name, item, knowledge, stack, gpu) for name, item in sorted(named.items()))


def _decision(name: str, item: Dependency, knowledge: Knowledge, stack: Stack, gpu: Gpu) -> DependencyDecision:
    if item.package is None:
        reason = "no record says that its default install needs NVIDIA"
        return DependencyDecision(name=name, package=None, decision="keep", route=None, reason=reason)
    return _routed(name, knowledge.packages[item.package], stack, gpu)


def _routed(name: str, package: Package, stack: Stack, gpu: Gpu) -> DependencyDecision:
    routes = sorted((r for r in package.routes if r.status == "active"), key=lambda route: (route.rank, route.id))
    reasons = {route.id: misfit(route, stack, gpu) for route in routes}
    fitting = [route for route in routes if reasons[route.id] is None]
    chosen = fitting[0] if fitting else None
    rejected = tuple(
        Rejected(id=route.id, reason=reasons[route.id] or _second_best(chosen))
        for route in routes
        if route is not chosen
    )
    if chosen is None:
        why = "; ".join(f"{item.id}: {item.reason}" for item in rejected)
        return DependencyDecision(
            name=name,
            package=package.id,
            decision="blocked",
            route=None,
            reason=f"no route fits {stack.id} on {gpu.gfx} ({why})",
            sources=package.sources,
            alternatives=rejected,
        )
    return DependencyDecision(
        name=name,
        package=package.id,
        decision=chosen.decision,
        route=chosen.id,
        reason=chosen.summary,
        requirement=chosen.requirement,
        index=chosen.index,
        env=chosen.env,
        commands=chosen.commands,
        proof=chosen.proof,
        traps=(*package.traps, *chosen.traps),
        sources=chosen.sources,
        verified_on=chosen.verified_on,
        alternatives=rejected,
    )


def _second_best(chosen: Route | None) -> str:
    return f"fits too, but ranks below {chosen.id}" if chosen else "was not chosen"


def _order(item: Dependency) -> tuple[str, str, int]:
    return item.name.lower(), item.location.path, item.location.line
