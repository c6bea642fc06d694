from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from rocm3d.model.artifact import Artifact
from rocm3d.model.run import KernelTime, LoadedModule, Manifest, RunRecord
from rocm3d.verify.probes.judge_runs import probe
from rocm3d.verify.runs.stored_run import StoredRun


def make_record(command=("python", "train.py"), held=None, **values) -> RunRecord:
    manifest = {"machine": "m", "gpu": "MI300X", "gfx": "gfx942", "rocm": "7.2", "torch": "2.9", **(held or {})}
    fields = {
        "name": "train", "command": command, "started": datetime(2026, 11, 15, tzinfo=timezone.utc), "seconds": 9.0,
        "limit": 60.0, "status": "finished", "exit_code": 0, "manifest": Manifest(**manifest),
        "modules": (LoadedModule(name="torch", file="/env/site-packages/torch/__init__.py"),),
        "kernels": (KernelTime(name="k", calls=1, microseconds=1.0, backend="hipBLASLt", operation="gemm"),),
        "backends": {"gemm": ("hipBLASLt",)},
        "artifacts": (Artifact(path="a.ply", kind="splat", outcome="ok", metrics={"gaussians": 51840}),), **values,
    }  # fmt: skip
    return RunRecord(**fields)


@pytest.fixture
def run_verdicts(ported):
    """The verdicts on these runs of the current code. `known_as`: the port record that the plan names."""

    def make_verdicts(*runs, known_as=None, stored_runs=None):
        case = ported()
        all_runs = stored_runs or tuple(StoredRun(f"train-{at}", record, "", True) for at, record in enumerate(runs))
        plan = case.plan.model_copy(update={"known_as": known_as})
        return probe.attempt(replace(case, plan=plan, runs=all_runs))

    return make_verdicts


def test_without_a_run_the_command_that_records_one_is_named(run_verdicts):
    (verdict,) = run_verdicts(known_as="gaussian-splatting")

    assert (verdict.level, verdict.probe, verdict.outcome) == ("workload", "judge_runs", "not_run")
    assert verdict.reason == (
        "no recorded run. Record one on MI300X: "
        "rocm3d run --limit 30m -- python train.py -s '<scene>' --iterations 1000 --test_iterations 1000"
    )


def test_runs_of_other_code_are_listed_and_not_used(run_verdicts):
    (verdict,) = run_verdicts(
        stored_runs=(StoredRun("train", make_record(), "", False), StoredRun("b", None, "b is incomplete"))
    )

    assert verdict.outcome == "not_run"
    assert "train: the code has changed since this run; b: b is incomplete" in verdict.reason


def test_not_run_without_a_knowledge_base(case):
    (verdict,) = probe.attempt(case())

    assert verdict.outcome == "not_run"


@pytest.mark.parametrize(
    ("status", "outcome"), [("failed", "failed"), ("out_of_memory", "failed"), ("interrupted", "not_run")]
)
def test_an_unfinished_run_has_one_verdict(run_verdicts, status, outcome):
    (verdict,) = run_verdicts(make_record(status=status, reason="exit code 1: no room"))

    assert (verdict.outcome, verdict.reason) == (outcome, f"runs/train-0: {status}: exit code 1: no room")


def test_a_run_on_another_gpu_is_not_run(run_verdicts):
    (verdict,) = run_verdicts(make_record(held={"gfx": "gfx1100"}))

    assert (verdict.outcome, verdict.reason) == ("not_run", "runs/train-0: ran on gfx1100; the plan is for gfx942")


def test_a_run_on_the_planned_gpu_passes_with_its_backends(run_verdicts):
    verdicts = run_verdicts(make_record())

    assert [verdict.outcome for verdict in verdicts] == ["passed", "passed"]
    assert {verdict.subject for verdict in verdicts} == {"runs/train-0"}
    assert "runs/train-0: finished in 9 s on MI300X (gfx942)" in verdicts[0].looked_at[0]
