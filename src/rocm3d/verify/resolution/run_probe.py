"""Opens the resolver session for the probes of level resolve, or reports why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from rocm3d.verify.resolution.resolver import CachingResolver
from rocm3d.verify.resolution.session import ResolverSession, find_resolver, open_session
from rocm3d.verify.resolution.verdicts import verdict
from rocm3d.workspace.web import without_secrets

if TYPE_CHECKING:
    from rocm3d.model.verdict import Verdict
    from rocm3d.verify.probe import Case


def run_in_session(
    case: Case, probe: str, make_verdicts: Callable[[ResolverSession], Iterable[Verdict]]
) -> tuple[Verdict, ...]:
    """Runs the probe in a session for the plan's stack. Equal verdicts are returned once."""
    if case.plan.base is None or case.knowledge is None:
        return (verdict(probe, "skipped", "the plan chose no stack"),)
    resolver = find_resolver(case.network.resolver)
    if isinstance(resolver, str):
        return (verdict(probe, "not_run", resolver),)
    caching_resolver = CachingResolver(resolver, case.network.resolutions)
    with open_session(caching_resolver, case.plan.base, case.knowledge, case.plan.platform) as resolver_session:
        index = resolver.indexes.default
        why = resolver_session.web.why_unreachable(index) if index and not resolver.indexes.uv_is_configured else ""
        if why:
            return (verdict(probe, "not_run", f"the index {without_secrets(index)} does not respond: {why}"),)
        return tuple(dict.fromkeys(make_verdicts(resolver_session)))
