from __future__ import annotations

import pytest

from rocm3d.model.run import ExpectationResult
from rocm3d.record.expectation import NOT_MEASURED
from rocm3d.verify.runs.verdicts import expectation_verdicts, run_command


@pytest.fixture
def zipsplat(knowledge):
    return knowledge.ports["zipsplat"]


@pytest.fixture
def workload_run(zipsplat, make_run):
    """A run of the workload in zipsplat's record."""

    def make(**values):
        return make_run(command=zipsplat.workload.command, **values)

    return make


def test_another_command_has_no_expectations_of_the_record(zipsplat, make_run, knowledge):
    assert list(expectation_verdicts(make_run(), zipsplat, knowledge)) == []
    assert list(expectation_verdicts(make_run(), None, knowledge)) == []


def test_a_value_that_was_not_measured_is_not_run(zipsplat, workload_run, knowledge):
    ((outcome, reason, _),) = expectation_verdicts(workload_run(artifacts=()), zipsplat, knowledge)

    assert outcome == "not_run"
    assert reason.startswith(f"gaussians = 51840: {NOT_MEASURED} (expected by rocm3d blog")


def test_another_value_fails(zipsplat, workload_run, make_run, knowledge):
    (splat,) = make_run().artifacts
    few = splat.model_copy(update={"metrics": {"gaussians": 12}})

    ((outcome, reason, _),) = expectation_verdicts(workload_run(artifacts=(few,)), zipsplat, knowledge)

    assert outcome == "failed"
    assert reason.startswith("gaussians = 51840: found 12 (a.ply) (expected by")


def test_the_value_of_the_record_passes_with_its_source(zipsplat, workload_run, knowledge):
    ((outcome, _, checked),) = expectation_verdicts(workload_run(), zipsplat, knowledge)

    assert outcome == "passed"
    assert checked[0].endswith("(expected by rocm3d blog, David Li and Andy Luo, 2026-06-10, 2026-06-10)")


def test_expectations_of_the_user_override_the_record(zipsplat, workload_run, knowledge):
    results = (
        ExpectationResult(expectation="gaussians > 5", met=True, found="51840"),
        ExpectationResult(expectation="steps > 5", met=False, found=NOT_MEASURED),
        ExpectationResult(expectation="gaussians = 51840", met=False, found="old", source="an older record"),
    )

    verdict_parts = list(expectation_verdicts(workload_run(expectations=results), zipsplat, knowledge))

    assert [(outcome, (reason or checked[0]).partition(":")[0]) for outcome, reason, checked in verdict_parts] == [
        ("passed", "gaussians > 5"),
        ("not_run", "steps > 5"),
    ]


def test_the_command_of_the_record_is_named(zipsplat, knowledge):
    assert run_command(None) == "rocm3d run -- CMD ..."
    assert run_command(zipsplat).startswith("rocm3d run --limit 20m -- python -c 'import math, ")
    in_folder = run_command(knowledge.ports["hunyuan3d-2.1"])
    assert in_folder == "cd hy3dshape && rocm3d run --limit 30m -- python minimal_demo.py"
