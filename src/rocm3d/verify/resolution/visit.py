"""Opens the resolver session for the probes of level resolve, or reports why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from rocm3d.verify.resolution.remembered import Remembered
from rocm3d.verify.resolution.session import Session, resolver_named, session
from rocm3d.verify.resolution.verdicts import verdict
from rocm3d.workspace.web import without_secrets

if TYPE_CHECKING:
    from rocm3d.model.verdict import Verdict
    from rocm3d.verify.probe import Case


def visit(case: Case, probe: str, look: Callable[[Session], Iterable[Verdict]]) -> tuple[Verdict, ...]:
    """Runs the probe in a session for the plan's stack. Equal verdicts are returned once."""
    if case.plan.base is None or case.knowledge is None:
        return (verdict(probe, "skipped", "the plan chose no stack"),)
    resolver = resolver_named(case.network.resolver)
    if isinstance(resolver, str):
        return (verdict(probe, "not_run", resolver),)
    asked = Remembered(resolver, case.network.answers)
    with session(asked, case.plan.base, case.knowledge, case.plan.platform) as here:
        index = resolver.indexes.default
        why = here.web.why_unreachable(index) if index and not resolver.indexes.own else ""
        if why:
            return (verdict(probe, "not_run", f"the index {without_secrets(index)} does not respond: {why}"),)
        return tuple(dict.fromkeys(look(here)))
