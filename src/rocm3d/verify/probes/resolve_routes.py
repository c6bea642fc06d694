"""Resolves each package that the plan installs with a separate command, at the index of its route."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.verify.resolution.commands import Install, installs
from rocm3d.verify.resolution.prepare import Aside, prepare
from rocm3d.verify.resolution.sets import RequirementSet, line_of
from rocm3d.verify.resolution.verdicts import judged, set_aside, verdict
from rocm3d.verify.resolution.visit import visit
from rocm3d.workspace.web import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocm3d.verify.resolution.session import Session


def attempt(case: Case) -> tuple[Verdict, ...]:
    """If an index does not respond, its packages are not_run, by name. Source builds belong to resolve_builds."""
    return visit(case, probe.name, lambda here: _look(case, here))


def _look(case: Case, here: Session) -> Iterator[Verdict]:
    routed = [item for item in installs(case.plan) if item.decision.decision != "build"]
    if not routed:
        yield verdict(probe.name, "skipped", "the plan installs no package with a separate command")
    for item in routed:
        yield from _of_route(item, here)


def _of_route(item: Install, here: Session) -> Iterable[Verdict]:
    lines = tuple(line for mention in item.mentions if (line := line_of(mention)) is not None)
    if not lines:
        return []
    why = here.web.why_unreachable(item.index) if item.index else ""
    if why:
        reason = f"its index {without_secrets(item.index)} does not respond: {why}"
        return set_aside(probe.name, (Aside(line.name, reason) for line in lines))
    given = prepare(RequirementSet(f"{item.decision.name} ({item.command})", lines), here.web)
    return judged(probe.name, here.on_base(given, item.index, alone="--no-deps" in item.flags), here)


probe = Probe(__name__, "resolve", attempt, asks_servers=True)
