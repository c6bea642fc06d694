"""The kernel of a step of Adam for some rows: one lane per element, and nothing is read of a row that was not seen."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["count", "each"])
def rocm3d_adam_kernel(
    parameter, gradient, first, second, visible, count, each, lr, beta1, beta2, rest1, rest2, eps, BLOCK: tl.constexpr
):  # fmt: skip
    """`each` elements belong to one row; `rest1` and `rest2` are one minus the betas, before they were rounded."""
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
