"""Chooses routes for all packages on one stack: the best of each, unless two of them conflict.

One decision for each distribution that the repository requires or imports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.finding import Finding
from rocm3d.model.inventory import Dependency
from rocm3d.model.package import Package, Route
from rocm3d.model.plan import DependencyDecision, RejectedAlternative
from rocm3d.model.plan_choices import Preference
from rocm3d.model.stack import Stack
from rocm3d.model.target import Gpu
from rocm3d.plan.version_ranges import is_satisfiable

_ALSO_FITS = "fits too"


@dataclass(frozen=True)
class RepositoryConstraints:
    """`pinned` are the routes of its known port, `versions` the ranges it requires of each distribution, and
    `imported` the packages that it imports unconditionally."""

    prefer: Preference = "stable"
    pinned: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    imported: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RouteChoice:
    """The route chosen for one package, and the rejected ones with reasons. `chosen` is None if no route fits."""

    package: Package
    chosen: Route | None
    rejected: tuple[RejectedAlternative, ...]
    pinned: str | None = None

    @property
    def misses_pin(self) -> bool:
        """Whether the known port used another route than the chosen one."""
        return self.pinned is not None and (self.chosen is None or self.chosen.id != self.pinned)

    @property
    def ranks_below_best(self) -> int:
        """How many ranks below the best the chosen route is; 0 for the route that the known port used."""
        return 0 if self.chosen is None or self.chosen.id == self.pinned else self.chosen.rank - 1

    @property
    def fallback_count(self) -> int:
        """The number of other routes that fit."""
        return sum(rejected_route.reason.startswith(_ALSO_FITS) for rejected_route in self.rejected)


def choose_routes(
    packages: Sequence[Package], stack: Stack, gpu: Gpu, constraints: RepositoryConstraints
) -> dict[str, RouteChoice]:
    ranked = {package.id: _ranked_routes(package, constraints) for package in packages}
    problems = {
        (package.id, route.id): problem
        for package in packages
        for route in ranked[package.id]
        if (problem := route_problem(route, stack, gpu) or _repository_conflict(package, route, constraints))
    }
    chosen = _compatible_routes(
        {name: [route for route in ranked[name] if (name, route.id) not in problems] for name in sorted(ranked)}
    )
    return {
        package.id: RouteChoice(
            package,
            chosen[package.id],
            tuple(_rejected_routes(package, ranked[package.id], chosen, problems)),
            constraints.pinned.get(package.id),
        )
        for package in packages
    }


def _ranked_routes(package: Package, constraints: RepositoryConstraints) -> list[Route]:
    """Active routes, best first. The route that the known port used comes before all others."""

    def key(route: Route) -> tuple[bool, bool, int, str]:
        pinned = constraints.pinned.get(package.id) == route.id
        building = constraints.prefer == "fewest-builds" and route.decision == "build"
        return not pinned, building, route.rank, route.id

    return sorted((route for route in package.routes if route.status == "active"), key=key)


def _repository_conflict(
    package: Package, route: Route, constraints: RepositoryConstraints
) -> RejectedAlternative | None:
    """A conflict with the repository's own imports and version ranges."""
    if route.unless_imported and package.id in constraints.imported:
        return _rejected(route, "works only if no module imports it at the top", "the import moved into a function")
    for name, required in sorted(route.needs.items()):
        pins = constraints.versions.get(name, ())
        if pins and not any(is_satisfiable((pin, required)) for pin in pins):
            return _rejected(
                route,
                f"needs {name} {required}; the repository requires {pins[0]}",
                f"another {name} in the repository",
            )
    return None


def _rejected(route: Route, reason: str, would_need: str) -> RejectedAlternative:
    return RejectedAlternative(id=route.id, reason=reason, would_need=would_need)


def _version_conflict(first: Route, second: Route) -> str | None:
    """Why two routes cannot share an environment; None if they can."""
    for name in sorted({*first.needs, *first.moves} & {*second.needs, *second.moves}):
        ours, theirs = _required_version(first, name), _required_version(second, name)
        if not is_satisfiable((ours, theirs)):
            return f"{name} {ours} versus {theirs}"
    return None


def _required_version(route: Route, name: str) -> str:
    return f"=={route.moves[name]}" if name in route.moves else route.needs[name]


def _compatible_routes(options: Mapping[str, Sequence[Route]]) -> dict[str, Route | None]:
    """The best route of each package; among conflicting packages, the best combination, by exhaustive search."""
    contested = sorted(
        package
        for package, routes in options.items()
        if any(
            _version_conflict(route, rival)
            for other, rivals in options.items()
            if other != package
            for route in routes
            for rival in rivals
        )
    )
    best = {package: routes[0] if routes else None for package, routes in options.items()}
    best.update(_search(contested, options))
    return best


def _search(contested: Sequence[str], options: Mapping[str, Sequence[Route]]) -> dict[str, Route | None]:
    best: tuple[tuple[int, int], dict[str, Route | None]] | None = None

    def extend(selected: dict[str, Route | None], cost: tuple[int, int]) -> None:
        nonlocal best
        if best is not None and cost >= best[0]:
            return
        if len(selected) == len(contested):
            best = cost, dict(selected)
            return
        package = contested[len(selected)]
        for rank, route in enumerate(options[package]):
            if not any(rival and _version_conflict(route, rival) for rival in selected.values()):
                extend({**selected, package: route}, (cost[0], cost[1] + rank))
        extend({**selected, package: None}, (cost[0] + 1, cost[1]))

    extend({}, (0, 0))
    return best[1] if best else {}


def _rejected_routes(
    package: Package,
    routes: Sequence[Route],
    chosen: Mapping[str, Route | None],
    problems: Mapping[tuple[str, str], RejectedAlternative],
) -> Iterator[RejectedAlternative]:
    winner = chosen[package.id]
    rivals = {name: route for name, route in chosen.items() if route is not None and name != package.id}
    for route in routes:
        if (package.id, route.id) in problems:
            yield problems[package.id, route.id]
        elif route is not winner:
            yield _rejected_route(route, winner, rivals)


def _rejected_route(route: Route, winner: Route | None, rivals: Mapping[str, Route]) -> RejectedAlternative:
    for name, rival in sorted(rivals.items()):
        clash = _version_conflict(route, rival)
        if clash is not None:
            return _rejected(route, f"conflicts with {rival.id} of {name}: {clash}", f"another route for {name}")
    reason = f"{_ALSO_FITS}, but ranks below {winner.id}" if winner else "was not chosen"
    return _rejected(route, reason, "a knowledge overlay (--knowledge) that ranks it first")


def route_problem(route: Route, stack: Stack, gpu: Gpu) -> RejectedAlternative | None:
    """Why a route does not fit, and what would make it fit; None if it fits."""
    for component, required, available in (
        ("ROCm", route.rocm, stack.rocm),
        ("torch", route.torch, stack.torch),
        ("Python", route.python, stack.python),
    ):
        if required and not SpecifierSet(required).contains(available, prereleases=True):
            return _rejected(
                route,
                f"needs {component} {required}; this stack has {available}",
                f"a stack with {component} {required}",
            )
    if route.gfx and gpu.gfx not in route.gfx:
        return _rejected(route, f"supports {', '.join(route.gfx)}; this GPU is {gpu.gfx}", f"a report from {gpu.gfx}")
    if route.products and gpu.product not in route.products:
        return _rejected(
            route, f"supports {', '.join(route.products)}; this GPU is {gpu.product}", "one of those products"
        )
    # A route that installs another torch breaks everything that was built for the stack's torch.
    torch = route.moves.get("torch")
    if torch is not None and not SpecifierSet(f"=={torch}").contains(stack.torch, prereleases=True):
        return _rejected(route, f"installs torch {torch}; this stack has {stack.torch}", f"a stack with torch {torch}")
    return None


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
            name = next((name for name in package.pip if "*" not in name), package.id)
            packages.setdefault(str(canonicalize_name(name)), package.id)
    return dict(sorted(packages.items()))


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
        DependencyDecision(name=name, package=None, decision="keep", route=None, reason="not known to need NVIDIA")
        if package is None
        else _package_decision(name, routed[package], stack, gpu)
        for name, package in names.items()
    )


def _package_decision(name: str, routed: RouteChoice, stack: Stack, gpu: Gpu) -> DependencyDecision:
    package = routed.package
    if routed.chosen is not None:
        decision = _decision_from_route(name, package, routed.chosen, gpu)
        return decision.model_copy(update={"alternatives": routed.rejected})
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
        pin=route.pin,
        unpinned=route.unpinned,
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
