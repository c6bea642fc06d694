"""Triton kernel of an Adam step for the visible rows.

parameter, gradient, first and second (moments) have `count` elements, row-major; visible [count / each]. One lane per
element; elements of rows that are not visible are neither read nor written.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["count", "each"])
def rocm3d_adam_kernel(
    parameter, gradient, first, second, visible, count, each, lr, beta1, beta2, rest1, rest2, eps, BLOCK: tl.constexpr
):  # fmt: skip
    """`each` is the number of elements per row; `rest1` and `rest2` are 1 - beta, computed in float64."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    seen = mask & (tl.load(visible + at // each, mask, other=0) != 0)
    slope = tl.load(gradient + at, seen, other=0.0)
    mean = beta1 * tl.load(first + at, seen, other=0.0) + rest1 * slope
    square = beta2 * tl.load(second + at, seen, other=0.0) + rest2 * slope * slope
    value = tl.load(parameter + at, seen, other=0.0)
    tl.store(parameter + at, value - lr * mean / (tl.sqrt(square) + eps), seen)
    tl.store(first + at, mean, seen)
    tl.store(second + at, square, seen)
