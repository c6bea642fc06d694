"""Resolves each package that the plan installs with a separate command, at the index of its route."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.verify.resolution.builds import InstallCommand, install_commands
from rocm3d.verify.resolution.session import ResolverSession, in_session
from rocm3d.verify.resolution.sets import ExcludedRequirement, RequirementSet, prepare, to_line
from rocm3d.verify.resolution.verdicts import excluded_verdicts, set_verdicts
from rocm3d.workspace.web import without_secrets


@in_session
def attempt(case: Case, session: ResolverSession) -> Iterator[Verdict]:
    """If an index does not respond, its packages are not_run, by name. Source builds belong to resolve_builds."""
    routed = [command for command in install_commands(case.plan) if command.decision.decision != "build"]
    if not routed:
        yield probe.verdict("skipped", "the plan installs no package with a separate command")
    for command in routed:
        yield from _route_verdicts(command, session)


def _route_verdicts(install_command: InstallCommand, session: ResolverSession) -> Iterable[Verdict]:
    lines = tuple(line for mention in install_command.mentions if (line := to_line(mention)) is not None)
    if not lines:
        return []
    why = session.web.why_unreachable(install_command.index) if install_command.index else ""
    if why:
        reason = f"its index {without_secrets(install_command.index)} does not respond: {why}"
        return excluded_verdicts(probe, (ExcludedRequirement(line.name, reason) for line in lines))
    prepared = prepare(
        RequirementSet(f"{install_command.decision.name} ({install_command.command})", lines), session.web
    )
    return set_verdicts(
        probe,
        session.resolve_on_stack(prepared, install_command.index, no_dependencies="--no-deps" in install_command.flags),
        session,
    )


probe = Probe(__name__, "resolve", attempt, needs_network=True)
