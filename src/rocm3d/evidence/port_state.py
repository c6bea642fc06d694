"""The state of a port, computed from its documents: the only place that decides how far a port is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocm3d.evidence.level_rungs import RECORD_RUN, REPORT, LevelRungs, join_reasons
from rocm3d.evidence.open_tasks import count_tasks
from rocm3d.evidence.verdict_merge import as_of
from rocm3d.model.counted import counted
from rocm3d.model.evidence import SealedRun
from rocm3d.model.inventory import Scan
from rocm3d.model.patch import Patch, RefusedEdit
from rocm3d.model.plan import Plan
from rocm3d.model.port_state import DEFAULT_BAR, RUNGS, PortState, Rung, RungName
from rocm3d.model.verdict import Verdict, Verdicts
from rocm3d.workspace.journal import digest

PLAN = "rocm3d plan . --gpu GPU"
APPLY = "rocm3d apply ."
# These need the GPU of the plan, and an environment with its torch.
_ON_GPU: tuple[RungName, ...] = ("imported", "ran", "judged")


@dataclass(frozen=True)
class PortFacts:
    """What the state follows from; a document that does not exist is None.

    `tree` is the digest of the files now. `has_gpu`: this machine has the GPU of the plan. `record_run` is the command
    that records a run of the workload.
    """

    tree: str
    scan: Scan | None = None
    plan: Plan | None = None
    patch: Patch | None = None
    verdicts: Verdicts | None = None
    runs: tuple[SealedRun, ...] = ()
    has_gpu: bool = False
    record_run: str = RECORD_RUN


def port_state(facts: PortFacts) -> PortState:
    """Each rung by itself. What was not checked, or on other files, is not_run, whatever else is known."""
    verdicts = as_of(facts.verdicts, facts.tree) if facts.verdicts else None
    plan = facts.plan
    levels = LevelRungs.of(verdicts, facts.scan, plan, facts.runs, facts.record_run)
    rungs = (
        _scanned(facts.scan),
        _planned(plan),
        _edited(facts, verdicts.verdicts if verdicts else ()),
        levels.resolved,
        levels.compiled,
        levels.imported,
        levels.ran,
        levels.evaluated,
    )
    tasks = count_tasks(plan, facts.patch, verdicts)
    return PortState(
        rungs=rungs,
        tasks=tasks,
        blocked=_blocked(plan),
        stubs=tuple(sorted(item.name for item in plan.stubs)) if plan else (),
        next=_next(rungs, tasks, has_gpu=facts.has_gpu),
    )


def plan_digest(plan: Plan) -> str:
    """Identifies the plan that a patch was made from."""
    return digest(plan.to_json().encode())


def _next(rungs: Sequence[Rung], tasks: int, *, has_gpu: bool) -> str:
    """First what the default bar needs, then the tasks, then the rest that this machine can do."""
    bar = RUNGS[: RUNGS.index(DEFAULT_BAR) + 1]
    first = [rung for rung in rungs if rung.name in bar and rung.name != "resolved"]
    others = [rung for rung in rungs if rung not in first and (has_gpu or rung.name not in _ON_GPU)]
    commands = (*_commands(first), *([REPORT] if tasks else []), *_commands(others))
    return next(iter(commands), "")


def _commands(rungs: Iterable[Rung]) -> list[str]:
    return [rung.next for rung in rungs if rung.is_open and rung.next]


def _scanned(scan: Scan | None) -> Rung:
    if scan is None:
        return Rung(name="scanned", outcome="not_run", reason="not scanned yet", next="rocm3d scan .")
    inventory = scan.inventory
    unscanned = sorted(inventory.unscanned, key=lambda item: (item.name, item.where, item.reason))
    open_items = [f"{item.name} ({item.reason})" for item in unscanned]
    commands = [command for item in unscanned for command in item.commands[:1]]
    reason = f"{counted(len(unscanned), 'part')} of the port not scanned" if unscanned else ""
    if inventory.rules:
        open_items.append(f"rules that {inventory.rules} left out")
        commands.append("rocm3d scan .")
        reason = "; ".join(text for text in (reason, "only some rules ran") if text)
    done, total = inventory.counts.files, inventory.counts.files + len(open_items)
    if not open_items:
        return Rung(name="scanned", outcome="complete", done=done, total=total)
    return Rung(
        name="scanned",
        outcome="partial",
        done=done,
        total=total,
        open_items=tuple(open_items),
        reason=reason,
        next=next(iter(commands), ""),
    )


def _blocked(plan: Plan | None) -> tuple[str, ...]:
    return tuple(sorted(item.name for item in plan.decisions if item.decision == "blocked")) if plan else ()


def _planned(plan: Plan | None) -> Rung:
    if plan is None:
        return Rung(name="planned", outcome="not_run", reason="no plan yet", next=PLAN)
    total, blocked = len(plan.decisions), _blocked(plan)
    if plan.stack is None:
        reason = f"no stack supports {plan.gpu.title} ({plan.gpu.gfx}) on {plan.platform}"
        return Rung(name="planned", outcome="failed", total=total, open_items=blocked, reason=reason)
    if blocked:
        return Rung(
            name="planned",
            outcome="failed",
            done=total - len(blocked),
            total=total,
            open_items=blocked,
            reason=f"{counted(len(blocked), 'package')} without a route to {plan.gpu.gfx}",
        )
    return Rung(name="planned", outcome="complete", done=total, total=total)


def _edited(facts: PortFacts, verdicts: Sequence[Verdict]) -> Rung:
    """Verdicts are those of the files now. A patch counts only for its plan, and for the files that it left."""
    patch, plan = facts.patch, facts.plan
    obstacle = _not_applied(facts, verdicts)
    if patch is None or plan is None or obstacle is not None:
        reason, command = obstacle or ("not applied yet", APPLY)
        return Rung(name="edited", outcome="not_run", reason=reason, next=command)
    failed = sorted(_failed_edits(patch, verdicts))
    planned = {(edit.path, edit.recipe) for edit in plan.edits}
    refused = {(item.path, item.recipe): item for item in patch.refused}
    possible = {key for key in planned if key not in refused or refused[key].kind == "left_out"}
    left_out = sorted(
        (item for key, item in refused.items() if item.kind == "left_out" and key in planned),
        key=lambda item: (item.path, item.recipe, item.reason),
    )
    hidden = sorted(item.text for item in plan.hidden if item.errors or item.warnings)
    done, total = len(possible) - len(left_out), len(possible) + len(hidden)
    if failed:
        return Rung(
            name="edited",
            outcome="failed",
            done=done,
            total=total,
            open_items=tuple(dict.fromkeys(name for name, _ in failed)),
            reason=join_reasons(text for _, text in failed),
            next="" if any(name.startswith("nvidia") for name, _ in failed) else APPLY,
        )
    if not left_out and not hidden:
        return Rung(name="edited", outcome="complete", done=done, total=total)
    reasons = [item.reason for item in left_out] + (["the repository hides findings"] if hidden else [])
    return Rung(
        name="edited",
        outcome="partial",
        done=done,
        total=total,
        open_items=(*(f"{item.path} {item.recipe}" for item in left_out), *hidden),
        reason=join_reasons(reasons),
        next=_next_for_edits(left_out, plan),
    )


def _next_for_edits(left_out: Sequence[RefusedEdit], plan: Plan) -> str:
    if not left_out:
        return f"rocm3d port . --gpu {plan.gpu.product} --isolated"
    return "rocm3d review ." if all("rocm3d review" in item.reason for item in left_out) else APPLY


def _not_applied(facts: PortFacts, verdicts: Sequence[Verdict]) -> tuple[str, str] | None:
    """Why the patch says nothing about the files now, and the command that changes that; None if it does."""
    patch, plan = facts.patch, facts.plan
    if patch is None:
        return "not applied yet", APPLY
    if patch.dry_run:
        return "dry run: nothing was written", APPLY
    if plan is None:
        return "no plan yet", PLAN
    if patch.plan and patch.plan != plan_digest(plan):
        return "the plan has changed since it was applied", APPLY
    checked = any(item.level == "static" and item.outcome != "not_run" for item in verdicts)
    if not checked and not (patch.tree and patch.tree == facts.tree):
        return "the files have changed since the edits were made and checked", "rocm3d verify . --level static"
    return None


def _failed_edits(patch: Patch, verdicts: Iterable[Verdict]) -> Iterator[tuple[str, str]]:
    """Names and reasons: proofs that do not hold, and checks of the edits that failed."""
    for change in (*patch.changes, *patch.edited):
        if not change.proof.holds:
            yield change.path, f"{change.path}: NVIDIA isolation is not proven: {change.proof.detail}"
    for item in verdicts:
        if item.level in ("static", "nvidia") and item.outcome == "failed":
            yield f"{item.level} {item.subject or item.probe}", item.reason
