from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from rocm3d.model.artifact import METRICS, Artifact, is_metric


@pytest.mark.parametrize(
    "values",
    [
        {"outcome": "ok"},
        {"outcome": "ok", "problems": ("black",), "metrics": {"width": 1}},
        {"outcome": "bad", "metrics": {"width": 1}},
        {"outcome": "not_read"},
        {"outcome": "ok", "metrics": {"mean": math.nan}},
    ],
)
def test_inconsistent_outcomes_are_refused(values):
    with pytest.raises(ValidationError):
        Artifact(path="a.png", **values)


@pytest.mark.parametrize("name", ["", "gausians", ".nan", "scores.median", "ARRAY.nan", "a.vertices"])
def test_unknown_metric_is_refused(name):
    assert not is_metric(name)


@pytest.mark.parametrize("name", ["gaussians", "vertices", "frames", "scores.maximum", "head.0.nan"])
def test_known_metrics(name):
    assert is_metric(name)


def test_every_metric_has_a_description():
    assert [] == [key for known in METRICS.values() for key, about in known.items() if not about]


def test_the_reason_is_the_first_problem():
    artifact = Artifact(path="a.png", outcome="bad", problems=("black: every pixel is", "small"))

    assert artifact.reason == "black: every pixel is"
    assert Artifact.model_validate_json(artifact.model_dump_json()) == artifact
