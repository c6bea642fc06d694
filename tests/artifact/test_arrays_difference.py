from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.artifact.arrays import compare, tolerance_dtype
from rocm3d.knowledge.load import load

TOLERANCES = load().tolerances


def compared(reference, candidate, tolerance="float32-operator", dtype="float32"):
    return compare("t", numpy.asarray(reference, dtype), numpy.asarray(candidate, dtype), dtype, TOLERANCES[tolerance])


@pytest.mark.parametrize(
    ("reference", "candidate", "reason"),
    [
        ([1, 2], [[1, 2]], "shape is [1, 2], expected [2]"),
        ([1, 2], [1, numpy.nan], "1 of 2 elements are NaN where the reference is not"),
        ([1, numpy.inf], [1, numpy.nan], "1 of 2 elements are NaN where the reference is not"),
        ([1, 2], [0, 0], "all elements are zero, and the reference is not"),
        ([1, numpy.nan], [1, 2], "1 of 2 elements differ; worst at [1]: 2.0, expected nan"),
        ([1, numpy.inf], [1, -numpy.inf], "1 of 2 elements differ; worst at [1]: -inf, expected inf"),
        ([1, 2, 3], [1, 2.1, 3.2], "2 of 3 elements differ; worst at [2]: 3.2, expected 3.0"),
        (1, 2, "1 of 1 elements differ; worst: 2.0, expected 1.0"),
    ],
)
def test_what_does_not_agree_gives_the_reason(reference, candidate, reason):
    result = compared(reference, candidate)

    assert (result.agrees, result.reason) == (False, reason)


def test_whole_numbers_must_be_equal_beyond_what_a_float_can_hold():
    result = compared([2**60], [2**60 + 1], "int-exact", "int64")

    assert (result.agrees, result.max_error) == (False, 1)
    assert (result.worst.got, result.worst.wanted) == (str(2**60 + 1), str(2**60))


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [([1, 2], [1, 2.0001]), ([numpy.nan, numpy.inf], [numpy.nan, numpy.inf]), ([], []), ([0, 0], [0, 0])],
)
def test_what_agrees(reference, candidate):
    assert compared(reference, candidate).agrees is True


def test_the_worst_is_the_one_nearest_to_its_limit():
    """A small error at zero is worse than a larger one at a large number."""
    result = compared([0, 1000], [9e-5, 1000.01])

    assert result.agrees is True
    assert result.worst.index == (0,)
    assert result.max_error == pytest.approx(0.01, rel=0.1)


def test_complex_numbers_are_compared_by_their_distance():
    result = compared([1 + 1j], [1 + 2j], dtype="complex64")

    assert (result.agrees, result.max_error) == (False, 1)


@pytest.mark.parametrize(
    ("array", "dtype", "expected"),
    [
        (numpy.ones(1, "f8"), "", "float64"),
        (numpy.ones(1, "f4"), "bfloat16", "bfloat16"),
        (numpy.ones(1, "f4"), "float8_e4m3fn", "float8"),
        (numpy.ones(1, "c8"), "", "float32"),
        (numpy.ones(1, bool), "", "int"),
        (numpy.ones(1, "u1"), "uint8", "int"),
        (numpy.array(["a"]), "", None),
    ],
)
def test_the_kind_of_numbers(array, dtype, expected):
    assert tolerance_dtype(array, dtype) == expected


LISTS = st.lists(st.floats(width=32), max_size=6)


@given(LISTS)
def test_a_tensor_agrees_with_itself(values):
    assert compared(values, values).agrees is True


@given(LISTS, LISTS)
def test_it_agrees_only_where_every_element_does(reference, candidate):
    result = compared(reference, candidate)

    if len(reference) == len(candidate):
        expected = numpy.allclose(
            numpy.float64(numpy.float32(candidate)), numpy.float64(numpy.float32(reference)), 1e-4, 1e-4, equal_nan=True
        )
        assert result.agrees == expected
    else:
        assert not result.agrees
