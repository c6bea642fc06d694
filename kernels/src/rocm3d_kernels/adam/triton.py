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
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    active = mask & (tl.load(visible + index // each, mask, other=0) != 0)
    grad = tl.load(gradient + index, active, other=0.0)
    mean = beta1 * tl.load(first + index, active, other=0.0) + rest1 * grad
    square = beta2 * tl.load(second + index, active, other=0.0) + rest2 * grad * grad
    value = tl.load(parameter + index, active, other=0.0)
    tl.store(parameter + index, value - lr * mean / (tl.sqrt(square) + eps), active)
    tl.store(first + index, mean, active)
    tl.store(second + index, square, active)
