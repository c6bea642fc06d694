from __future__ import annotations

import numpy

from rocm3d.artifact.geometry import count_nonfinite_rows, extent


def test_nothing_has_no_extent():
    assert extent(numpy.zeros((0, 3))) == 0
    assert extent(numpy.full((4, 3), numpy.nan)) == 0


def test_an_extent_that_no_number_holds_is_none():
    assert extent(numpy.array([[-1.7e308, 0, 0], [1.7e308, 0, 0]])) == 0


def test_the_extent_passes_over_what_is_not_finite():
    assert extent(numpy.array([[0, 0, 0], [3, 4, 0], [numpy.inf, 0, 0]], dtype="f4")) == 5


def test_rows_that_are_broken():
    assert count_nonfinite_rows(numpy.array([[1, numpy.nan], [numpy.inf, numpy.nan], [1, 2]])) == 2
