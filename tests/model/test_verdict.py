"""A verdict cannot pass without checked items."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from rocm3d.model.verdict import Verdict


def verdict(**fields: object) -> Verdict:
    return Verdict.model_validate({"level": "static", "probe": "p", **fields})


def test_passed_without_checked_items_is_refused():
    with pytest.raises(ValidationError, match="outcome passed needs looked_at"):
        verdict(outcome="passed", reason="surely")


@pytest.mark.parametrize("outcome", ["failed", "skipped", "not_run"])
def test_anything_but_passed_needs_a_reason(outcome):
    with pytest.raises(ValidationError, match=f"{outcome} needs a reason"):
        verdict(outcome=outcome, looked_at=("a.py",))


@pytest.mark.parametrize("fields", [{"outcome": "probably", "reason": "r"}, {"outcome": "", "reason": "r"}])
def test_outcome_that_is_none_of_the_four_is_refused(fields):
    with pytest.raises(ValidationError, match="outcome"):
        verdict(**fields)


def test_level_that_does_not_exist_is_refused():
    with pytest.raises(ValidationError, match="level"):
        verdict(level="luck", outcome="failed", reason="r")


def test_consistent_verdicts_are_accepted():
    assert verdict(outcome="passed", looked_at=("a.py",)).reason == ""
    assert [verdict(outcome=o, reason="why").outcome for o in ("failed", "skipped", "not_run")] == [
        "failed", "skipped", "not_run",
    ]  # fmt: skip
