from __future__ import annotations

import decimal
import math

import pytest

from rocm3d_kernels.arguments import (
    MAX_INT32,
    MAX_SIDE,
    CheckedLayouts,
    check_alike,
    check_image_size,
    check_integer,
    check_number,
    check_shape,
    check_tensors,
    describe,
    short,
)
from tests.device import torch


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "must be a tensor, not None"),
        ([1], "must be a tensor, not list"),
        (1.5, r"must be a tensor, not 1\.5 \(float\)"),
        (torch.ones(2).to_sparse(), "must be a dense tensor, not torch.sparse_coo"),
    ],
    ids=["None", "list", "number", "sparse"],
)
def test_what_is_no_dense_tensor_is_refused(value, text):
    with pytest.raises(TypeError, match=f"op: points {text}"):
        check_tensors("op", {"first": torch.ones(1), "points": value})


def test_different_dtypes_devices_and_shapes_are_refused_by_name():
    one = torch.ones(2, 3)

    with pytest.raises(ValueError, match=r"like a; c is torch\.float64"):
        check_alike("op", {"a": one, "b": None, "c": one.double()})
    with pytest.raises(ValueError, match=r"like a; c is torch\.float32 on meta"):
        check_alike("op", {"a": one, "c": one.to("meta")})
    with pytest.raises(TypeError, match=r"a must be float32, not torch\.int64"):
        check_alike("op", {"a": one.long(), "c": one})
    with pytest.raises(ValueError, match=r"op: a must be \(2, 4\) with b, not \(2, 3\)"):
        check_shape("op", "a", one, (2, 4), "with b")
    check_shape("op", "a", None, (2, 4))


@pytest.mark.parametrize("value", [1.0, math.nan, "1", None, True, [1], 1j, torch.tensor(1.0), torch.tensor([1, 2])])
def test_what_is_no_integer_is_refused(value):
    with pytest.raises(TypeError, match=r"op: n must be an integer, not "):
        check_integer("op", "n", value, 0)


@pytest.mark.parametrize("value", [-1, 11, 2**31, 10**400, -(10**400)])
def test_integer_outside_the_limits_is_refused_in_a_short_line(value):
    with pytest.raises(ValueError, match=r"op: n is .*; it must be 0 to 10") as refusal:
        check_integer("op", "n", value, 0, 10)
    assert len(str(refusal.value)) < 100


def test_integers_of_other_libraries_are_accepted():
    assert check_integer("op", "n", torch.tensor(3), 0) == 3


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, torch.tensor(math.nan)])
def test_number_that_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match=r"op: x is .*; it must be a finite number"):
        check_number("op", "x", value)


@pytest.mark.parametrize("value", [None, "1", b"1", [1.0], 1j, object(), torch.ones(2)])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(TypeError, match="op: x must be a number, not "):
        check_number("op", "x", value)


def test_limits_of_numbers():
    with pytest.raises(ValueError, match=r"x is 0\.0; it must be above 0\.0"):
        check_number("op", "x", 0, above=0.0)
    with pytest.raises(ValueError, match=r"x is 2\.0; it must be at least 0\.0 and at most 1\.0"):
        check_number("op", "x", 2, least=0.0, most=1.0)
    assert check_number("op", "x", math.inf, infinite=True) == math.inf
    assert check_number("op", "x", decimal.Decimal("0.5")) == 0.5
    assert check_number("op", "x", -3.0) == -3.0


@pytest.mark.parametrize(
    ("width", "height", "name"),
    [
        (0, 5, "width"),
        (5, 0, "height"),
        (5, 0.0, "height"),
        (-1, 5, "width"),
        (5, 10**7, "height"),
        (10**30, 1, "width"),
    ],
)
def test_sizes_that_cannot_be_drawn_are_refused_by_name(width, height, name):
    with pytest.raises(ValueError, match=f"{name} is "):
        check_image_size("op", width, height)


def test_sides_end_where_float32_has_no_pixel_centres():
    side = torch.tensor(float(MAX_SIDE), dtype=torch.float32)

    assert side - 0.5 != side
    assert side + 0.5 == side
    assert check_image_size("op", MAX_SIDE, 1) == (MAX_SIDE, 1)


def test_number_of_tiles_must_fit_into_int32():
    side = 16 * 2**15
    assert check_image_size("op", side, side) == (side, side)

    with pytest.raises(ValueError, match="2 images of width 524288 and height 524288 have 2147483648 tiles"):
        check_image_size("op", side, side, images=2)
    with pytest.raises(ValueError, match=f"the limit is {MAX_INT32 - 1}"):
        check_image_size("op", side, side, tile=8)


def test_values_in_messages_are_short():
    assert describe("x" * 1000).startswith("'xxx")
    assert len(describe("x" * 1000)) < 60
    assert describe(torch.ones(2, 3)) == "a tensor of shape (2, 3)"
    assert short(10**5000) == f"a number of {(10**5000).bit_length()} bits"


def test_checked_layouts_differ_in_shape_dtype_device_and_values():
    checked, one = CheckedLayouts(), torch.ones(2, 3)
    checked.add(CheckedLayouts.key((one, None), 4, "RGB"))

    assert CheckedLayouts.key((torch.zeros(2, 3), None), 4, "RGB") in checked
    others = (one[:1], one.double(), one.to("meta"), None)
    assert not any(CheckedLayouts.key((other, None), 4, "RGB") in checked for other in others)
    assert CheckedLayouts.key((one, None), 5, "RGB") not in checked
    assert CheckedLayouts.key((one, one), 4, "RGB") not in checked


@pytest.mark.parametrize("value", [1.0, True, [1], math.nan])
def test_values_that_equal_a_checked_one_are_checked_themselves(value):
    assert CheckedLayouts.key((), value) is None
    assert CheckedLayouts.key((torch.ones(2).to_sparse(),)) is None
    assert CheckedLayouts.key(([1.0],)) is None
