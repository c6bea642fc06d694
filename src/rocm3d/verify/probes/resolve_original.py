"""Resolves what the original requirements would install on a new machine. Informative: it never fails a port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.verify.resolution.prepare import prepare
from rocm3d.verify.resolution.sets import requirement_sets
from rocm3d.verify.resolution.verdicts import verdict
from rocm3d.verify.resolution.visit import visit
from rocm3d.verify.resolution.weight import weigh

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.verify.resolution.session import Asked, Session
    from rocm3d.verify.resolution.sets import RequirementSet

_MOST = 6  # files; sorted by depth, and people install from the outermost ones


def attempt(case: Case) -> tuple[Verdict, ...]:
    """Reports the number of packages, the download size and the CUDA packages."""
    return visit(case, probe.name, lambda here: _look(case, here))


def _look(case: Case, here: Session) -> Iterator[Verdict]:
    folder = f"{case.patch.folder}/"
    sets = requirement_sets(case.tree, lambda path: not path.startswith(folder))
    seen = [found for given in sets[:_MOST] for found in _of_set(given, here)]
    if seen:
        yield verdict(probe.name, "passed", "", seen)
    else:
        yield verdict(probe.name, "skipped", "the original has no requirements that pip would install")


def _of_set(given: RequirementSet, here: Session) -> list[str]:
    """Tries the stack's Python first, then older ones: the original may have been written for those."""
    ready = prepare(given, here.web, plain_versions=True)
    others = sorted({stack.python for stack in here.knowledge.stacks.values()}, key=_order, reverse=True)
    older = [python for python in others if _order(python) < _order(here.base.python)]
    for python in (here.base.python, *older):
        asked = here.on_nothing(ready, python)
        if asked.resolution.problem is None:
            return _seen(asked, python, here)
    problem = asked.resolution.problem
    return [f"{given.source}: does not resolve: {problem.text[:300] if problem else ''}", *ready.notes]


def _seen(asked: Asked, python: str, here: Session) -> list[str]:
    weight = weigh(asked.resolution.packages, here.knowledge, here.web)
    base = [f"{item.name} {item.version}" for item in asked.resolution.packages if _is_of_base(item.name, here)]
    source = f"{asked.given.source}: {weight} by {here.resolver.label}, Python {python}"
    return [
        source,
        *([f"it would install {', '.join(base)}"] if base else []),
        *([f"CUDA packages: {', '.join(weight.foreign)}"] if weight.foreign else []),
        *(f"without {item.name}: {item.why}" for item in asked.aside),
        *asked.given.notes,
    ]


def _is_of_base(name: str, here: Session) -> bool:
    package = here.knowledge.package_by_pip(name)
    return package is not None and package.id in here.base.packages


def _order(python: str) -> tuple[int, ...]:
    return tuple(int(part) for part in python.split("."))


probe = Probe(__name__, "resolve", attempt, asks_servers=True)
