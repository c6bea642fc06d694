"""Chooses routes for all packages on one stack: the best of each, unless two of them conflict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocm3d.model.plan import RejectedAlternative
from rocm3d.plan.fit import Misfit, misfit
from rocm3d.plan.versions import agree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rocm3d.model.package import Package, Route
    from rocm3d.model.stack import Stack
    from rocm3d.model.target import Gpu
    from rocm3d.model.wish import Preference


@dataclass(frozen=True)
class Circumstances:
    """`pinned` are the routes of its known port, `versions` the ranges it requires of each distribution, and
    `imported` the packages that it imports unconditionally."""

    prefer: Preference = "stable"
    pinned: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    imported: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Routed:
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
    def below_best(self) -> int:
        """How many ranks below the best the chosen route is; 0 for the route that the known port used."""
        if self.chosen is None or self.chosen.id == self.pinned:
            return 0
        return self.chosen.rank - 1

    @property
    def open_ways(self) -> int:
        """The number of other routes that fit."""
        return sum(item.reason.startswith(_FITS) for item in self.rejected)


_FITS = "fits too"


def settle(packages: Sequence[Package], stack: Stack, gpu: Gpu, given: Circumstances) -> dict[str, Routed]:
    misfits: dict[tuple[str, str], Misfit] = {}
    options: dict[str, list[Route]] = {}
    for package in sorted(packages, key=lambda item: item.id):
        options[package.id] = []
        for route in _ordered(package, given):
            problem = misfit(route, stack, gpu) or _against_repository(package, route, given)
            if problem is None:
                options[package.id].append(route)
            else:
                misfits[package.id, route.id] = problem
    chosen = _together(options)
    return {
        package.id: Routed(
            package,
            chosen[package.id],
            tuple(_turned_down(package, _ordered(package, given), chosen, misfits)),
            given.pinned.get(package.id),
        )
        for package in packages
    }


def _ordered(package: Package, given: Circumstances) -> list[Route]:
    """Active routes, best first. The route that the known port used comes before all others."""

    def key(route: Route) -> tuple[bool, bool, int, str]:
        pinned = given.pinned.get(package.id) == route.id
        building = given.prefer == "fewest-builds" and route.decision == "build"
        return not pinned, building, route.rank, route.id

    return sorted((route for route in package.routes if route.status == "active"), key=key)


def _against_repository(package: Package, route: Route, given: Circumstances) -> Misfit | None:
    """A conflict with the repository's own imports and version ranges."""
    if route.unless_imported and package.id in given.imported:
        return Misfit("works only if no module imports it at the top", "the import moved into a function")
    for name, wanted in sorted(route.needs.items()):
        pins = given.versions.get(name, ())
        if pins and not any(agree((pin, wanted)) for pin in pins):
            return Misfit(
                f"needs {name} {wanted}; the repository requires {pins[0]}", f"another {name} in the repository"
            )
    return None


def _conflict(one: Route, other: Route) -> str | None:
    """Why two routes cannot share an environment; None if they can."""
    for name in sorted({*one.needs, *one.moves} & {*other.needs, *other.moves}):
        ours, theirs = _asks(one, name), _asks(other, name)
        if not agree((ours, theirs)):
            return f"{name} {ours} versus {theirs}"
    return None


def _asks(route: Route, name: str) -> str:
    return f"=={route.moves[name]}" if name in route.moves else route.needs[name]


def _together(options: Mapping[str, Sequence[Route]]) -> dict[str, Route | None]:
    """The best route of each package; among conflicting packages, the best combination, by exhaustive search."""
    contested = sorted(
        package
        for package, routes in options.items()
        if any(
            _conflict(route, rival)
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

    def extend(taken: dict[str, Route | None], cost: tuple[int, int]) -> None:
        nonlocal best
        if best is not None and cost >= best[0]:
            return
        if len(taken) == len(contested):
            best = cost, dict(taken)
            return
        package = contested[len(taken)]
        for place, route in enumerate(options[package]):
            if not any(rival and _conflict(route, rival) for rival in taken.values()):
                extend({**taken, package: route}, (cost[0], cost[1] + place))
        extend({**taken, package: None}, (cost[0] + 1, cost[1]))

    extend({}, (0, 0))
    return best[1] if best else {}


def _turned_down(
    package: Package,
    routes: Sequence[Route],
    chosen: Mapping[str, Route | None],
    misfits: Mapping[tuple[str, str], Misfit],
) -> Iterator[RejectedAlternative]:
    taken = chosen[package.id]
    rivals = {name: route for name, route in chosen.items() if route is not None and name != package.id}
    for route in routes:
        problem = misfits.get((package.id, route.id))
        if problem is not None:
            yield RejectedAlternative(id=route.id, reason=problem.reason, would_need=problem.would_need)
        elif route is not taken:
            yield _outranked(route, taken, rivals)


def _outranked(route: Route, taken: Route | None, rivals: Mapping[str, Route]) -> RejectedAlternative:
    for name, rival in sorted(rivals.items()):
        clash = _conflict(route, rival)
        if clash is not None:
            reason = f"conflicts with {rival.id} of {name}: {clash}"
            return RejectedAlternative(id=route.id, reason=reason, would_need=f"another route for {name}")
    reason = f"{_FITS}, but ranks below {taken.id}" if taken else "was not chosen"
    return RejectedAlternative(id=route.id, reason=reason, would_need="a knowledge overlay (--knowledge) that ranks it first")
