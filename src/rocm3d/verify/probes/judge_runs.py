"""Checks recorded runs of the current code: the GPU they ran on, the backends that ran, and the artifacts."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.model.run import RunRecord
from rocm3d.model.verdict import Outcome, Verdict
from rocm3d.verify.probe import Case, Probe, UncheckedError
from rocm3d.verify.runs.stored_run import latest_runs
from rocm3d.verify.runs.verdicts import (
    artifact_verdicts,
    backend_verdicts,
    describe_environment,
    environment_mismatch,
    expectation_verdicts,
    run_command,
)

_MAX_RUNS_SHOWN = 3


def attempt(case: Case) -> Iterator[Verdict]:
    """Verdicts for the latest run of each name. Without a run: not_run, with the command that records one."""
    runs = latest_runs(case.runs)
    if not runs:
        raise UncheckedError(_no_run_reason(case))
    for stored_run, run in runs:
        yield from _run_verdicts(case, f"runs/{stored_run.folder}", run)


def _run_verdicts(case: Case, name: str, run: RunRecord) -> Iterator[Verdict]:
    if run.status != "finished":
        outcome: Outcome = "not_run" if run.status == "interrupted" else "failed"
        yield probe.verdict(outcome, f"{name}: {run.status}: {run.reason or 'reason unknown'}")
        return
    mismatch = environment_mismatch(run, case.plan.gpu)
    if mismatch is not None:
        yield probe.verdict(mismatch[0], f"{name}: {mismatch[1]}")
        return
    yield probe.verdict("passed", "", (f"{name}: finished in {run.seconds:.4g} s on {describe_environment(run)}",))
    port = case.knowledge.ports.get(case.plan.known_as or "")
    for outcome, reason, checked in (
        *expectation_verdicts(run, port, case.knowledge),
        *artifact_verdicts(run),
        *backend_verdicts(run, case.plan, case.knowledge),
    ):
        yield probe.verdict(outcome, f"{name}: {reason}" if reason else "", (f"{name}: {text}" for text in checked))


def _no_run_reason(case: Case) -> str:
    suggestion = run_command(case.knowledge.ports.get(case.plan.known_as or ""))
    if not case.runs:
        return f"no recorded run. Record one on {case.plan.gpu.title}: {suggestion}"
    why = "; ".join(f"{item.folder}: {item.unusable_reason}" for item in case.runs[-_MAX_RUNS_SHOWN:])
    return f"no usable run of the current code ({why}). Record one: {suggestion}"


probe = Probe(__name__, "workload", attempt)
