from __future__ import annotations

import pytest

from rocm3d.knowledge.load import load
from rocm3d.plan.phases import phases


@pytest.fixture(scope="module")
def method():
    return load().method


def test_without_a_method_there_are_no_phases():
    assert phases(None, (), ()) == ()


def test_all_nine_and_the_skipped_ones_say_why(method):
    found = phases(method, (), ())

    assert [item.number for item in found] == list(range(9))
    assert [item.number for item in found if not item.skipped] == [0, 1, 8]
    assert all(item.state == f"skipped: {item.skipped}" for item in found if item.skipped)


def test_findings_are_counted_in_their_phase(make, method):
    answered = [make.finding("CU301", "spaced_launch"), make.finding("DEP201", "cuda_only_package")]
    left = [make.finding("CU101", "lane_mask_32bit"), make.finding("CU201", "missing_header")]

    found = {item.number: item for item in phases(method, answered, left)}

    assert (found[2].answered, found[2].left, found[2].state) == (1, 1, "1 answered, 1 left")
    assert (found[3].answered, found[3].left) == (0, 1)
    assert (found[5].answered, found[5].left) == (1, 0)
    assert found[4].skipped
    assert found[0].state == "applies"
