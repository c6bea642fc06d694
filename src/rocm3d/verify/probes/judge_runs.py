"""Checks recorded runs of the current code: how they ended, the GPU they ran on, and the backends that ran."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.model.run import RunRecord
from rocm3d.model.verdict import Outcome, Verdict
from rocm3d.verify.probe import Case, Probe, UncheckedError
from rocm3d.verify.runs.stored_run import StoredRun, latest_runs, run_verdict
from rocm3d.verify.runs.verdicts import backend_verdicts, describe_environment, environment_mismatch, run_command

_MAX_RUNS_SHOWN = 3


def attempt(case: Case) -> Iterator[Verdict]:
    """Verdicts for the latest run of each name. Without a run: not_run, with the command that records one."""
    runs = latest_runs(case.runs)
    if not runs:
        raise UncheckedError(_no_run_reason(case))
    for stored_run, run in runs:
        yield from _run_verdicts(case, stored_run, run)


def _run_verdicts(case: Case, stored_run: StoredRun, run: RunRecord) -> Iterator[Verdict]:
    if run.status != "finished":
        outcome: Outcome = "not_run" if run.status == "interrupted" else "failed"
        yield run_verdict(probe, stored_run, outcome, f"{run.status}: {run.reason or 'reason unknown'}")
        return
    mismatch = environment_mismatch(run, case.plan.gpu)
    if mismatch is not None:
        yield run_verdict(probe, stored_run, *mismatch)
        return
    finished = f"finished in {run.seconds:.4g} s on {describe_environment(run)}"
    yield run_verdict(probe, stored_run, "passed", checked=(finished,))
    for outcome, reason, checked in backend_verdicts(run, case.plan, case.knowledge):
        yield run_verdict(probe, stored_run, outcome, reason, checked)


def _no_run_reason(case: Case) -> str:
    suggestion = run_command(case.knowledge.ports.get(case.plan.known_as or ""))
    if not case.runs:
        return f"no recorded run. Record one on {case.plan.gpu.title}: {suggestion}"
    why = "; ".join(f"{item.folder}: {item.unusable_reason}" for item in case.runs[-_MAX_RUNS_SHOWN:])
    return f"no usable run of the current code ({why}). Record one: {suggestion}"


probe = Probe(__name__, "workload", attempt)
