"""Routes for all packages at once on one stack: the best of each, unless two of them cannot live together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocm3d.model.plan import Rejected
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
    """What the repository brings: `pinned` routes of its known port, `versions` it asks of each distribution, and the
    packages that it has `imported` at the top of a module."""

    prefer: Preference = "stable"
    pinned: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    imported: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Routed:
    """What was chosen for one package, and why not the others. `chosen` is None where nothing is left."""

    package: Package
    chosen: Route | None
    rejected: tuple[Rejected, ...]
    pinned: str | None = None

    @property
    def misses_pin(self) -> bool:
        """Whether a known port ran with another route than the one taken here."""
        return self.pinned is not None and (self.chosen is None or self.chosen.id != self.pinned)

    @property
    def below_best(self) -> int:
        """How far down the list the chosen route stands; one that a known port ran with is the best there is."""
        if self.chosen is None or self.chosen.id == self.pinned:
            return 0
        return self.chosen.rank - 1

    @property
    def open_ways(self) -> int:
        """Routes that could be taken here as well."""
        return sum(item.reason.startswith(_FITS) for item in self.rejected)


_FITS = "fits too"


def settle(packages: Sequence[Package], stack: Stack, gpu: Gpu, given: Circumstances) -> dict[str, Routed]:
    """A route for every package, by package id."""
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
    """Best first. The route a known port ran with comes before all others."""

    def key(route: Route) -> tuple[bool, bool, int, str]:
        pinned = given.pinned.get(package.id) == route.id
        building = given.prefer == "fewest-builds" and route.decision == "build"
        return not pinned, building, route.rank, route.id

    return sorted((route for route in package.routes if route.status == "active"), key=key)


def _against_repository(package: Package, route: Route, given: Circumstances) -> Misfit | None:
    """The repository's own imports and pins bind: what needs another version cannot be installed beside them."""
    if route.unless_imported and package.id in given.imported:
        return Misfit("holds only where the program does not import it", "the import moved to where it is used")
    for name, wanted in sorted(route.needs.items()):
        pins = given.versions.get(name, ())
        if pins and not any(agree((pin, wanted)) for pin in pins):
            return Misfit(
                f"needs {name} {wanted}; the repository asks for {pins[0]}", f"the repository's pin of {name} lifted"
            )
    return None


def _conflict(one: Route, other: Route) -> str | None:
    """Why two routes cannot be in one environment."""
    for name in sorted({*one.needs, *one.moves} & {*other.needs, *other.moves}):
        ours, theirs = _asks(one, name), _asks(other, name)
        if not agree((ours, theirs)):
            return f"{name} {ours} against {theirs}"
    return None


def _asks(route: Route, name: str) -> str:
    return f"=={route.moves[name]}" if name in route.moves else route.needs[name]


def _together(options: Mapping[str, Sequence[Route]]) -> dict[str, Route | None]:
    """The best of each package; where those clash, the combination that gives up least, found by trying them all."""
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
) -> Iterator[Rejected]:
    taken = chosen[package.id]
    rivals = {name: route for name, route in chosen.items() if route is not None and name != package.id}
    for route in routes:
        problem = misfits.get((package.id, route.id))
        if problem is not None:
            yield Rejected(id=route.id, reason=problem.reason, would_need=problem.would_need)
        elif route is not taken:
            yield _outranked(route, taken, rivals)


def _outranked(route: Route, taken: Route | None, rivals: Mapping[str, Route]) -> Rejected:
    for name, rival in sorted(rivals.items()):
        clash = _conflict(route, rival)
        if clash is not None:
            reason = f"cannot be beside {rival.id} of {name}: {clash}"
            return Rejected(id=route.id, reason=reason, would_need=f"another route for {name}")
    reason = f"{_FITS}, but ranks below {taken.id}" if taken else "was not chosen"
    return Rejected(id=route.id, reason=reason, would_need="an overlay (--knowledge) that ranks it first")
