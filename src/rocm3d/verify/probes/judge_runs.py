"""Checks recorded runs of the current code: the GPU they ran on, the backends that ran, and the artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.verify.runs.stored_run import latest_runs
from rocm3d.verify.runs.verdicts import (
    artifact_verdicts,
    backend_verdicts,
    describe_environment,
    environment_mismatch,
    expectation_verdicts,
    run_command,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.run import RunRecord
    from rocm3d.model.verdict import Outcome

_MAX_RUNS_SHOWN = 3


def attempt(case: Case) -> tuple[Verdict, ...]:
    """Verdicts for the latest run of each name. Without a run: not_run, with the command that records one."""
    if case.knowledge is None:
        return (_verdict("not_run", "no knowledge base loaded"),)
    runs = latest_runs(case.runs)
    if not runs:
        return (_verdict("not_run", _no_run_reason(case, case.knowledge)),)
    return tuple(
        verdict for stored_run, run in runs for verdict in _run_verdicts(case, case.knowledge, stored_run.folder, run)
    )


def _run_verdicts(case: Case, knowledge: Knowledge, folder: str, run: RunRecord) -> Iterator[Verdict]:
    name = f"runs/{folder}"
    if run.status != "finished":
        outcome: Outcome = "not_run" if run.status == "interrupted" else "failed"
        yield _verdict(outcome, f"{name}: {run.status}: {run.reason or 'reason unknown'}")
        return
    mismatch = environment_mismatch(run, case.plan.gpu)
    if mismatch is not None:
        yield _verdict(mismatch[0], f"{name}: {mismatch[1]}")
        return
    yield _verdict("passed", "", (f"{name}: finished in {run.seconds:.4g} s on {describe_environment(run)}",))
    port = knowledge.ports.get(case.plan.known_as or "")
    parts = (
        expectation_verdicts(run, port, knowledge),
        artifact_verdicts(run),
        backend_verdicts(run, case.plan, knowledge),
    )
    for outcome, reason, checked in (verdict_parts for part in parts for verdict_parts in part):
        evidence = tuple(f"{name}: {text}" for text in checked)
        yield _verdict(outcome, f"{name}: {reason}" if reason else "", evidence)


def _no_run_reason(case: Case, knowledge: Knowledge) -> str:
    suggestion = run_command(knowledge.ports.get(case.plan.known_as or ""))
    if not case.runs:
        return f"no recorded run. Record one on {case.plan.gpu.title}: {suggestion}"
    why = "; ".join(f"{item.folder}: {item.unusable_reason}" for item in case.runs[-_MAX_RUNS_SHOWN:])
    return f"no usable run of the current code ({why}). Record one: {suggestion}"


def _verdict(outcome: Outcome, reason: str, checked: tuple[str, ...] = ()) -> Verdict:
    return Verdict(level="workload", probe=probe.name, outcome=outcome, reason=reason, looked_at=checked)


probe = Probe(__name__, "workload", attempt)
