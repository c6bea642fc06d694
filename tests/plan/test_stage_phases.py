from __future__ import annotations

import pytest

from rocm3d.knowledge.load import load
from rocm3d.plan.stage import plan_phases


@pytest.fixture(scope="module")
def method():
    return load().method


def test_no_phases_without_a_method():
    assert plan_phases(None, (), ()) == ()


def test_all_phases_and_skipped_ones_have_a_reason(method):
    result = plan_phases(method, (), ())

    assert [item.number for item in result] == list(range(9))
    assert [item.number for item in result if not item.skipped] == [0, 1, 8]
    assert all(item.state == f"skipped: {item.skipped}" for item in result if item.skipped)


def test_findings_are_counted_in_their_phase(make, method):
    answered = [make.finding("CU301", "spaced_launch"), make.finding("DEP201", "cuda_only_package")]
    left = [make.finding("CU101", "lane_mask_32bit"), make.finding("CU201", "missing_header")]

    result = {entry.number: entry for entry in plan_phases(method, answered, left)}

    assert (result[2].answered, result[2].left, result[2].state) == (1, 1, "1 answered, 1 left")
    assert (result[3].answered, result[3].left) == (0, 1)
    assert (result[5].answered, result[5].left) == (1, 0)
    assert result[4].skipped
    assert result[0].state == "applies"


def test_a_reason_is_limited_to_what_was_scanned(method):
    complete, partial = plan_phases(method, (), ()), plan_phases(method, (), (), is_complete=False)

    skipped = [(first.skipped, second.skipped) for first, second in zip(complete, partial, strict=True)]
    assert any(first for first, _ in skipped)
    assert all(second == (f"{first} in what was scanned" if first else "") for first, second in skipped)
