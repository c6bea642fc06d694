from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.render.charts.scale import bytes_, plain, seconds, ticks


@pytest.mark.parametrize("most", [0.0, -1.0, float("nan"), float("inf")])
def test_nothing_to_measure_has_an_axis_all_the_same(most):
    assert ticks(most) == [0.0, 1.0]


@given(st.floats(1e-12, 1e15), st.integers(1, 8))
def test_an_axis_begins_at_zero_reaches_the_most_and_has_few_steps(most, about):
    found = ticks(most, about)

    assert found[0] == 0
    assert found[-1] >= most * (1 - 1e-6)
    assert found[-2] < most
    assert len(found) <= about + 2
    assert all(after > before for before, after in pairwise(found))


def test_steps_are_round():
    assert ticks(310) == [0, 100, 200, 300, 400]
    assert ticks(1) == [0, 0.5, 1.0]


def test_times_and_sizes_have_the_unit_that_suits_them():
    assert seconds(14.2).of(14.2) == "14.2 s"
    assert seconds(0.212).of(0.212) == "212 ms"
    assert seconds(1e-7).of(5e-7) == "0.5 \N{MICRO SIGN}s"
    assert bytes_(0).of(0) == "0 B"
    assert bytes_(14 * 1024**3).of(14 * 1024**3) == "14 GiB"
    assert bytes_(2048).of(1024) == "1 KiB"


def test_numbers_keep_the_digits_that_count():
    assert [plain(value) for value in (0, 0.012345, 3.14159, 123456.7)] == ["0", "0.0123", "3.14", "123,457"]
