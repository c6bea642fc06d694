from __future__ import annotations

import pytest

from rocm3d.model.run import ExpectationResult
from rocm3d.record.expectation import NOTHING
from rocm3d.verify.runs.expected import command, expected


@pytest.fixture
def zipsplat(knowledge):
    return knowledge.ports["zipsplat"]


@pytest.fixture
def as_recorded(zipsplat, make_run):
    """A run of the workload in zipsplat's record."""

    def make(**values):
        return make_run(command=zipsplat.workload.command, **values)

    return make


def test_another_command_is_not_judged_by_the_record(zipsplat, make_run, knowledge):
    assert list(expected(make_run(), zipsplat, knowledge)) == []
    assert list(expected(make_run(), None, knowledge)) == []


def test_a_value_that_was_not_seen_is_not_judged(zipsplat, as_recorded, knowledge):
    ((outcome, reason, _),) = expected(as_recorded(artifacts=()), zipsplat, knowledge)

    assert outcome == "not_run"
    assert reason.startswith(f"gaussians = 51840: {NOTHING} (expected by rocm3d blog")


def test_another_value_has_failed(zipsplat, as_recorded, make_run, knowledge):
    (splat,) = make_run().artifacts
    few = splat.model_copy(update={"metrics": {"gaussians": 12}})

    ((outcome, reason, _),) = expected(as_recorded(artifacts=(few,)), zipsplat, knowledge)

    assert outcome == "failed"
    assert reason.startswith("gaussians = 51840: found 12 (a.ply) (expected by")


def test_the_value_of_the_record_passes_with_its_source(zipsplat, as_recorded, knowledge):
    ((outcome, _, looked_at),) = expected(as_recorded(), zipsplat, knowledge)

    assert outcome == "passed"
    assert looked_at[0].endswith("(expected by rocm3d blog, David Li and Andy Luo, 2026-06-10, 2026-06-10)")


def test_what_was_asked_for_goes_before_the_record(zipsplat, as_recorded, knowledge):
    asked = (
        ExpectationResult(expectation="gaussians > 5", met=True, found="51840"),
        ExpectationResult(expectation="steps > 5", met=False, found=NOTHING),
        ExpectationResult(expectation="gaussians = 51840", met=False, found="old", source="an older record"),
    )

    found = list(expected(as_recorded(expectations=asked), zipsplat, knowledge))

    assert [(outcome, (reason or looked[0]).partition(":")[0]) for outcome, reason, looked in found] == [
        ("passed", "gaussians > 5"),
        ("not_run", "steps > 5"),
    ]


def test_the_command_of_the_record_is_named(zipsplat):
    assert command(None) == "rocm3d run -- CMD ..."
    assert command(zipsplat).startswith("rocm3d run --limit 20m -- python run_zipsplat_rocm_smoke.py --input ")
