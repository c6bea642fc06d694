from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from rocm3d.model.artifact import KEYS, Artifact, is_key


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
def test_verdicts_that_are_not_honest(values):
    with pytest.raises(ValidationError):
        Artifact(path="a.png", **values)


@pytest.mark.parametrize("name", ["", "gausians", ".nan", "scores.median", "ARRAY.nan", "a.vertices"])
def test_what_no_artifact_has_is_no_key(name):
    assert not is_key(name)


@pytest.mark.parametrize("name", ["gaussians", "vertices", "frames", "scores.maximum", "head.0.nan"])
def test_keys(name):
    assert is_key(name)


def test_every_key_says_what_it_counts():
    assert [] == [key for known in KEYS.values() for key, about in known.items() if not about]


def test_the_reason_is_the_first_problem():
    artifact = Artifact(path="a.png", outcome="bad", problems=("black: every pixel is", "small"))

    assert artifact.reason == "black: every pixel is"
    assert Artifact.model_validate_json(artifact.model_dump_json()) == artifact
