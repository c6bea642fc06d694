"""Resolves the requirements of a port on one stack after the other, until one has an installation for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.credentials import without_credentials
from rocm3d.model.errors import MachineError
from rocm3d.model.plan import Plan
from rocm3d.verify.resolution.locking import RequirementFiles, StackResolution, resolve_files
from rocm3d.verify.resolution.resolver import Resolver

MAX_REASON_LENGTH = 240


@dataclass(frozen=True)
class Candidate:
    """A plan for one stack, and the requirements files that its port would have."""

    plan: Plan
    files: RequirementFiles


NextCandidate = Callable[[Mapping[str, str]], "Candidate | None"]
"""The best plan without some stacks, given with the reason of each; None if no stack is left."""


@dataclass(frozen=True)
class ResolvedCandidate:
    """The first candidate that resolves. `unresolved` has the reason of each stack that was tried before."""

    candidate: Candidate
    resolution: StackResolution
    unresolved: Mapping[str, str]


def first_that_resolves(
    next_candidate: NextCandidate,
    resolver: Resolver,
    knowledge: Knowledge,
    unresolved: Mapping[str, str],
    progress: Callable[[str], None] = lambda _: None,
) -> ResolvedCandidate | None:
    """In the order of the plan; if every stack leaves something out, the one that leaves out least.

    None if none resolves. `unresolved` are stacks that were tried before. Raises MachineError if an index does not
    respond.
    """
    failed = dict(unresolved)
    partial: ResolvedCandidate | None = None
    while (candidate := next_candidate(failed)) is not None and candidate.plan.base is not None:
        base = candidate.plan.base
        if base.id in failed:
            break
        progress(f"resolving on {base.id}")
        resolution = resolve_files(candidate.plan, candidate.files, knowledge, resolver)
        if resolution.index_problem:
            raise MachineError(f"the requirements were not resolved: {resolution.index_problem}")
        result = ResolvedCandidate(candidate, resolution, dict(failed))
        if not resolution.problem and not resolution.left_out:
            return result
        failed[base.id] = one_line_reason(resolution)
        if resolution.problem:
            continue
        if partial is None or len(resolution.left_out) < len(partial.resolution.left_out):
            partial = result
        # What cannot be built for one Python cannot be built for it on another stack either.
        same = [stack.id for stack in knowledge.stacks.values() if stack.python == base.python]
        failed |= {stack: failed[base.id] for stack in same if stack not in failed}
    return partial


def one_line_reason(resolution: StackResolution) -> str:
    """Why a stack was not taken. Of a conflict, the packages that conflict without the conclusion of the resolver."""
    if not resolution.problem:
        return "; ".join(resolution.left_out)[:MAX_REASON_LENGTH]
    text = " ".join(without_credentials(resolution.problem).split())
    return text.partition(", we can conclude")[0].removeprefix("Because ")[:MAX_REASON_LENGTH]
