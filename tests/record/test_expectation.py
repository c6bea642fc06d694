from __future__ import annotations

from datetime import datetime, timezone

import pytest

from rocm3d.model.artifact import Artifact
from rocm3d.model.errors import UserError
from rocm3d.model.run import Manifest, PeakMemory, RunRecord, Steps
from rocm3d.record.expectation import KEYS, NOT_MEASURED, evaluate, parse_expectation


def run(**more):
    fields = {
        "name": "a", "command": ("a",), "started": datetime(2026, 11, 15, tzinfo=timezone.utc), "seconds": 10.0,
        "limit": 60.0, "status": "finished", "exit_code": 0, "manifest": Manifest(machine="m"), **more,
    }  # fmt: skip
    return RunRecord(**fields)


def splat(path, gaussians):
    return Artifact(path=path, kind="splat", outcome="ok", metrics={"gaussians": gaussians})


@pytest.fixture
def met(knowledge):
    def evaluate_text(text, record):
        return evaluate(parse_expectation(text, knowledge.backends.values()), record)

    return evaluate_text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gaussians", "not KEY OP VALUE"),
        ("gaussians >= ", "not KEY OP VALUE"),
        ("gaussians == 5", "not KEY OP VALUE"),
        ("gausians >= 5", "unknown key 'gausians'"),
        ("gaussians >= many", "'many' is not a number"),
        ("attention > ck", "compare a backend with = or !=, not >"),
        ("attention = aotrition", "unknown backend for attention"),
    ],
)
def test_invalid_expectation_is_refused_before_the_run(knowledge, text, message):
    with pytest.raises(UserError, match=message):
        parse_expectation(text, knowledge.backends.values())


def test_a_misspelt_key_gets_a_hint(knowledge):
    with pytest.raises(UserError) as caught:
        parse_expectation("gausians >= 5", knowledge.backends.values())

    assert "gaussians" in caught.value.hint


@pytest.mark.parametrize(
    "key", [key for key in KEYS if key not in ("exit_code", "seconds", "fallbacks", "stand_ins", "files")]
)
def test_unmeasured_key_is_not_met(met, key):
    assert (met(f"{key} >= 0", run()).met, met(f"{key} >= 0", run()).found) == (False, NOT_MEASURED)


def test_unrecorded_artifact_or_backend_is_not_met(met):
    assert not met("gaussians >= 0", run()).met
    assert not met("attention != ck", run()).met


@pytest.mark.parametrize(("sign", "holds"), [("=", 0), ("!=", 1), (">=", 0), ("<=", 1), (">", 0), ("<", 1)])
def test_every_sign(met, sign, holds):
    assert met(f"gaussians {sign} 9", run(artifacts=(splat("a.ply", 5),))).met is bool(holds)
    assert met(f"gaussians {sign} 9", run(artifacts=(splat("a.ply", 9),))).met is (sign in ("=", ">=", "<="))


def test_a_metric_must_hold_for_every_artifact_that_has_it(met):
    result = met("gaussians >= 5", run(artifacts=(splat("a.ply", 9), splat("b.ply", 3))))

    assert (result.met, result.found) == (False, "9 (a.ply), 3 (b.ply)")


def test_backend_is_selected_by_label_or_id(met):
    record = run(backends={"attention": ("Composable Kernel attention",)})

    assert met("attention = ck", record).met
    assert met("attention = composable kernel", record).met
    assert not met("attention = aotriton", record).met
    assert met("attention != aotriton", record).met


def test_every_backend_of_an_operation_must_match(met):
    record = run(backends={"attention": ("Composable Kernel attention", "torch SDPA flash (CUDA)")})

    assert not met("attention = ck", record).met
    assert not met("attention != flash", record).met


def test_numbers_of_the_run(met):
    steps = (Steps(kind="optimizer", count=20, first_seconds=3.0, steady_seconds=0.1),)
    record = run(steps=steps, memory=PeakMemory(gpu_reserved=1024**3, host=2 * 1024**3))

    assert met("steps = 20", record).met
    assert met("step_seconds < 0.2", record).met
    assert met("first_step_seconds > 1", record).met
    assert met("gpu_mib = 1024", record).met
    assert met("host_mib <= 2048", record).met
    assert met("seconds <= 10", record).met
