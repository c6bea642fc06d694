"""One decision for each distribution that the repository requires or imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rocm3d.model.plan import DependencyDecision

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.model.inventory import Dependency
    from rocm3d.model.package import Package, Route
    from rocm3d.model.stack import Stack
    from rocm3d.model.target import Gpu
    from rocm3d.plan.routes import RouteChoice


def package_by_distribution(
    dependencies: Iterable[Dependency], findings: Sequence[Finding], knowledge: Knowledge
) -> dict[str, str | None]:
    """Distribution name to package id, sorted. A package that is only imported gets its first name on PyPI."""
    packages: dict[str, str | None] = {}
    for dependency in dependencies:
        if dependency.name:
            name = str(canonicalize_name(dependency.name))
            packages[name] = packages.get(name) or dependency.package
    known = set(packages.values())
    for finding in findings:
        package = knowledge.packages.get(finding.package or "")
        # A note is about an optional import: nothing has to be installed for it.
        if package is not None and package.id not in known and finding.severity != "note":
            packages.setdefault(_first_name(package), package.id)
    return dict(sorted(packages.items()))


def _first_name(package: Package) -> str:
    plain = [name for name in package.pip if "*" not in name]
    return str(canonicalize_name(plain[0] if plain else package.id))


def required_versions(dependencies: Iterable[Dependency]) -> dict[str, tuple[str, ...]]:
    """The version ranges that the repository requires of each distribution; none if one mention has no range."""
    ranges_by_name: dict[str, set[str]] = {}
    for dependency in dependencies:
        try:
            requirement = Requirement(dependency.requirement)
        except InvalidRequirement:
            continue
        ranges_by_name.setdefault(str(canonicalize_name(requirement.name)), set()).add(str(requirement.specifier))
    return {name: tuple(sorted(ranges)) for name, ranges in ranges_by_name.items() if "" not in ranges}


def decide(
    names: Mapping[str, str | None], routed: Mapping[str, RouteChoice], stack: Stack, gpu: Gpu
) -> tuple[DependencyDecision, ...]:
    return tuple(
        _keep_decision(name) if package is None else _package_decision(name, routed[package], stack, gpu)
        for name, package in names.items()
    )


def _keep_decision(name: str) -> DependencyDecision:
    reason = "not known to need NVIDIA"
    return DependencyDecision(name=name, package=None, decision="keep", route=None, reason=reason)


def _package_decision(name: str, routed: RouteChoice, stack: Stack, gpu: Gpu) -> DependencyDecision:
    package, chosen = routed.package, routed.chosen
    if chosen is None:
        why = "; ".join(f"{rejected_route.id}: {rejected_route.reason}" for rejected_route in routed.rejected)
        return DependencyDecision(
            name=name,
            package=package.id,
            decision="blocked",
            route=None,
            reason=f"no route fits {stack.id} on {gpu.gfx} ({why})",
            sources=package.sources,
            checked=package.checked,
            confidence=package.confidence,
            alternatives=routed.rejected,
        )
    return _decision_from_route(name, package, chosen, gpu).model_copy(update={"alternatives": routed.rejected})


def _decision_from_route(name: str, package: Package, route: Route, gpu: Gpu) -> DependencyDecision:
    def with_target(text: str) -> str:
        return text.replace("{gfx}", gpu.gfx)

    return DependencyDecision(
        name=name,
        package=package.id,
        decision=route.decision,
        route=route.id,
        reason=route.summary,
        requirement=with_target(route.requirement),
        index=route.index,
        env={key: with_target(value) for key, value in sorted(route.env.items())},
        commands=tuple(tuple(with_target(argument) for argument in command) for command in route.commands),
        needs=dict(sorted(route.needs.items())),
        loses=route.loses,
        import_kept=route.import_kept,
        proof=route.proof,
        traps=(*package.traps, *route.traps),
        sources=route.sources,
        checked=route.checked,
        confidence=route.confidence,
        verified_on=route.verified_on,
    )
