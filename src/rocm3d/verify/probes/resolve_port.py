"""Resolves the port's requirements with uv or pip: the stack's torch must stay, and no CUDA package may come in."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.verify.resolution.session import ResolverSession, in_session
from rocm3d.verify.resolution.sets import MAX_SETS, PreparedSet, overrides, port_sets, prepare
from rocm3d.verify.resolution.verdicts import set_verdicts


@in_session
def attempt(case: Case, session: ResolverSession) -> Iterator[Verdict]:
    """Each requirements file of the port's folder, then the repository's requirements that the plan keeps."""
    sets = port_sets(case)
    if not sets:
        yield probe.verdict("skipped", "the port has no requirements that pip would install")
    for requirement_set in sets[:MAX_SETS]:
        prepared = prepare(requirement_set, session.web)
        for set_verdict in set_verdicts(probe, session.resolve_on_stack(prepared), session):
            yield (
                _mention_uv_overrides(set_verdict, prepared, case, session)
                if set_verdict.outcome == "failed"
                else set_verdict
            )
    for requirement_set in sets[MAX_SETS:]:
        yield probe.verdict(
            "not_run",
            f"{requirement_set.source}: not checked, limit of {MAX_SETS} requirements files reached",
        )


def _mention_uv_overrides(
    failed_verdict: Verdict, prepared: PreparedSet, case: Case, session: ResolverSession
) -> Verdict:
    """Still a failure, because install.sh uses pip. The reason says if uv with overrides.txt would resolve it."""
    lines = overrides(case)
    if not lines or case.network.resolver != "uv":
        return failed_verdict
    first = set_verdicts(probe, session.resolve_on_stack(prepared, overrides=lines), session)[0]
    reason = f"{failed_verdict.reason}; with uv and {case.patch.folder}/overrides.txt it resolves"
    return failed_verdict.model_copy(update={"reason": reason}) if first.outcome == "passed" else failed_verdict


probe = Probe(__name__, "resolve", attempt, needs_network=True)
