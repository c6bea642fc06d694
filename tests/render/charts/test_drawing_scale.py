from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.render.charts.drawing import format_number, size_unit, ticks, time_unit


@pytest.mark.parametrize("most", [0.0, -1.0, float("nan"), float("inf")])
def test_nothing_to_measure_has_an_axis_all_the_same(most):
    assert ticks(most) == [0.0, 1.0]


@given(st.floats(1e-12, 1e15), st.integers(1, 8))
def test_an_axis_begins_at_zero_reaches_the_most_and_has_few_steps(most, about):
    result = ticks(most, about)

    assert result[0] == 0
    assert result[-1] >= most * (1 - 1e-6)
    assert result[-2] < most
    assert len(result) <= about + 2
    assert all(after > before for before, after in pairwise(result))


def test_steps_are_round():
    assert ticks(310) == [0, 100, 200, 300, 400]
    assert ticks(1) == [0, 0.5, 1.0]


def test_times_and_sizes_have_the_unit_that_suits_them():
    assert time_unit(14.2).format(14.2) == "14.2 s"
    assert time_unit(0.212).format(0.212) == "212 ms"
    assert time_unit(1e-7).format(5e-7) == "0.5 \N{MICRO SIGN}s"
    assert size_unit(0).format(0) == "0 B"
    assert size_unit(14 * 1024**3).format(14 * 1024**3) == "14 GiB"
    assert size_unit(2048).format(1024) == "1 KiB"


def test_numbers_keep_the_digits_that_count():
    assert [format_number(value) for value in (0, 0.012345, 3.14159, 123456.7)] == ["0", "0.0123", "3.14", "123,457"]
