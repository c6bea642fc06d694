from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from rocm3d.model.artifact import Artifact
from rocm3d.model.run import Manifest, RunRecord
from rocm3d.verify.probes.evaluate_results import probe
from rocm3d.verify.runs.stored_run import StoredRun

SPLAT = Artifact(path="a.ply", kind="splat", outcome="ok", metrics={"gaussians": 51840})


def make_record(command=("python", "train.py"), artifacts=(SPLAT,), **values) -> RunRecord:
    manifest = {"machine": "m", "gpu": "MI300X", "gfx": "gfx942", "rocm": "7.2", "torch": "2.9"}
    fields = {
        "name": "train", "command": command, "started": datetime(2026, 11, 15, tzinfo=timezone.utc), "seconds": 9.0,
        "limit": 60.0, "status": "finished", "exit_code": 0, "manifest": Manifest(**manifest),
        "artifacts": artifacts, **values,
    }  # fmt: skip
    return RunRecord(**fields)


@pytest.fixture
def result_verdicts(ported):
    """The verdicts on these runs of the current code. `known_as`: the port record that the plan names."""

    def make_verdicts(*runs, known_as=None):
        case = ported()
        stored_runs = tuple(StoredRun(f"train-{at}", record, "", True) for at, record in enumerate(runs))
        plan = case.plan.model_copy(update={"known_as": known_as})
        return probe.attempt(replace(case, plan=plan, runs=stored_runs))

    return make_verdicts


@pytest.mark.parametrize("status", ["failed", "interrupted", "timed_out"])
def test_an_unfinished_run_has_no_results(result_verdicts, status):
    assert result_verdicts(make_record(status=status)) == ()


def test_a_run_on_another_gpu_has_no_results(result_verdicts):
    manifest = Manifest(machine="m", gpu="RX 7900 XTX", gfx="gfx1100", rocm="7.2", torch="2.9")

    assert result_verdicts(make_record(manifest=manifest)) == ()


def test_without_a_run_there_is_no_verdict(result_verdicts):
    assert result_verdicts() == ()


def test_the_workload_of_a_known_repository_is_checked_against_its_record(result_verdicts, knowledge):
    command = knowledge.ports["zipsplat"].workload.command
    few = (SPLAT.model_copy(update={"metrics": {"gaussians": 3}}),)

    good = result_verdicts(make_record(command), known_as="zipsplat")
    bad, missing = (result_verdicts(make_record(command, artifacts), known_as="zipsplat") for artifacts in (few, ()))

    assert [verdict.outcome for verdict in good] == ["passed", "passed"]
    assert [verdict.outcome for verdict in bad] == ["failed", "passed"]
    assert [verdict.outcome for verdict in missing] == ["not_run", "not_run"]
    assert {verdict.subject for verdict in good} == {"runs/train-0"}
    assert "runs/train-0: gaussians = 51840: found 51840 (a.ply)" in good[0].looked_at[0]
