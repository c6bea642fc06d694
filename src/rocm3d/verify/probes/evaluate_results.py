"""Checks the results of recorded runs: the expectations, and the artifacts that the runs wrote."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.verify.runs.stored_run import latest_runs, run_verdict
from rocm3d.verify.runs.verdicts import artifact_verdicts, environment_mismatch, expectation_verdicts


def attempt(case: Case) -> Iterator[Verdict]:
    """Only for runs that finished on the planned GPU: the results of others prove nothing, as judge_runs says."""
    port = case.knowledge.ports.get(case.plan.known_as or "")
    for stored_run, run in latest_runs(case.runs):
        if run.status == "finished" and environment_mismatch(run, case.plan.gpu) is None:
            results = (*expectation_verdicts(run, port, case.knowledge), *artifact_verdicts(run))
            yield from (run_verdict(probe, stored_run, *result) for result in results)


probe = Probe(__name__, "workload", attempt)
