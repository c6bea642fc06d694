"""Resolves the port's requirements with uv or pip: the stack's torch must stay, and no CUDA package may come in."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from rocm3d.model.errors import MachineError
from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.verify.resolution.candidates import ResolvedCandidate, first_that_resolves
from rocm3d.verify.resolution.locking import ENTRY_FILES
from rocm3d.verify.resolution.session import ResolverSession, in_session
from rocm3d.verify.resolution.sets import MAX_SETS, PreparedSet, overrides, port_sets, prepare
from rocm3d.verify.resolution.verdicts import set_verdicts


@in_session
def attempt(case: Case, session: ResolverSession) -> Iterator[Verdict]:
    """Each requirements file of the port's folder, then the repository's requirements that the plan keeps."""
    sets = port_sets(case)
    if not sets:
        yield probe.verdict("skipped", "the port has no requirements that pip would install")
    entries = {f"{case.patch.folder}/{name}" for name in ENTRY_FILES}
    for requirement_set in sets[:MAX_SETS]:
        prepared = prepare(requirement_set, session.web)
        for set_verdict in set_verdicts(probe, session.resolve_on_stack(prepared), session):
            if set_verdict.outcome != "failed":
                yield set_verdict
                continue
            verdict = _mention_uv_overrides(set_verdict, prepared, case, session)
            yield _mention_other_stack(verdict, case, session) if prepared.source in entries else verdict
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


def _mention_other_stack(failed_verdict: Verdict, case: Case, session: ResolverSession) -> Verdict:
    """The reason names the best other stack on which the requirements resolve, or says that there is none."""
    if case.plan.base is None or case.network.resolver != "uv":
        return failed_verdict
    before = {case.plan.base.id: failed_verdict.reason}
    if case.other_candidate(before) is None:
        return failed_verdict
    try:
        result = first_that_resolves(case.other_candidate, session.resolver, case.knowledge, before)
    except MachineError as error:
        return failed_verdict.model_copy(update={"reason": f"{failed_verdict.reason}; other stacks: {error.message}"})
    return failed_verdict.model_copy(update={"reason": f"{failed_verdict.reason}; {_other_stack_text(result)}"})


def _other_stack_text(result: ResolvedCandidate | None) -> str:
    stack = None if result is None else result.candidate.plan.base
    if result is None or stack is None or result.resolution.left_out:
        return "no other stack resolves them all"
    gpu = shlex.quote(result.candidate.plan.gpu.product)
    return f"they resolve on Python {stack.python}: rocm3d plan . --gpu {gpu} --stack {stack.id}"


probe = Probe(__name__, "resolve", attempt, needs_network=True)
