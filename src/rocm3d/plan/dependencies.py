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
    from rocm3d.plan.routes import Routed


def named(
    dependencies: Iterable[Dependency], findings: Sequence[Finding], knowledge: Knowledge
) -> dict[str, str | None]:
    """Distribution name to package id, sorted. A package that is only imported gets its first name on PyPI."""
    found: dict[str, str | None] = {}
    for item in dependencies:
        if item.name:
            name = str(canonicalize_name(item.name))
            found[name] = found.get(name) or item.package
    known = set(found.values())
    for finding in findings:
        package = knowledge.packages.get(finding.package or "")
        # A note is about an optional import: nothing has to be installed for it.
        if package is not None and package.id not in known and finding.severity != "note":
            found.setdefault(_first_name(package), package.id)
    return dict(sorted(found.items()))


def _first_name(package: Package) -> str:
    plain = [name for name in package.pip if "*" not in name]
    return str(canonicalize_name(plain[0] if plain else package.id))


def versions(dependencies: Iterable[Dependency]) -> dict[str, tuple[str, ...]]:
    """The version ranges that the repository requires of each distribution; none if one mention has no range."""
    found: dict[str, set[str]] = {}
    for item in dependencies:
        try:
            requirement = Requirement(item.requirement)
        except InvalidRequirement:
            continue
        found.setdefault(str(canonicalize_name(requirement.name)), set()).add(str(requirement.specifier))
    return {name: tuple(sorted(ranges)) for name, ranges in found.items() if "" not in ranges}


def decide(
    names: Mapping[str, str | None], routed: Mapping[str, Routed], stack: Stack, gpu: Gpu
) -> tuple[DependencyDecision, ...]:
    return tuple(
        _kept(name) if package is None else _decision(name, routed[package], stack, gpu)
        for name, package in names.items()
    )


def _kept(name: str) -> DependencyDecision:
    reason = "not known to need NVIDIA"
    return DependencyDecision(name=name, package=None, decision="keep", route=None, reason=reason)


def _decision(name: str, routed: Routed, stack: Stack, gpu: Gpu) -> DependencyDecision:
    package, chosen = routed.package, routed.chosen
    if chosen is None:
        why = "; ".join(f"{item.id}: {item.reason}" for item in routed.rejected)
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
    return _of_route(name, package, chosen, gpu).model_copy(update={"alternatives": routed.rejected})


def _of_route(name: str, package: Package, route: Route, gpu: Gpu) -> DependencyDecision:
    def here(text: str) -> str:
        return text.replace("{gfx}", gpu.gfx)

    return DependencyDecision(
        name=name,
        package=package.id,
        decision=route.decision,
        route=route.id,
        reason=route.summary,
        requirement=here(route.requirement),
        index=route.index,
        env={key: here(value) for key, value in sorted(route.env.items())},
        commands=tuple(tuple(here(word) for word in command) for command in route.commands),
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
