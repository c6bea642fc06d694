"""RoPE2D in place: each program owns a tile of [tokens, heads, frequencies].

tokens [batch, count, heads, 4 * QUARTER], strides by_batch, by_token, by_head, by_number; positions [batch, count, 2]
(y, x), strides at_batch, at_token, at_axis; frequencies [2, QUARTER], in turns: float32 value and rounding remainder.

The angles of a token are computed once for all its heads. by_batch, by_token and by_head are divided by WIDE, the
largest number of elements that divides them and the address, so the compiler can use loads of that width.
"""

from __future__ import annotations

import math

import triton
import triton.language as tl

# Taylor coefficients of sine and cosine; arguments are at most an eighth of a turn, 0.79.
_TURN = tl.constexpr(2 * math.pi)
_S3, _S5, _S7, _S9 = (tl.constexpr(sign / math.factorial(n)) for sign, n in ((-1, 3), (1, 5), (-1, 7), (1, 9)))
_C2, _C4, _C6, _C8 = (tl.constexpr(sign / math.factorial(n)) for sign, n in ((-1, 2), (1, 4), (-1, 6), (1, 8)))
_C10 = tl.constexpr(-1 / math.factorial(10))


@triton.jit
def _cos_sin(position, high, low):
    """Cosine and sine of `position * (high + low)` turns.

    Whole turns are removed before rounding, so large positions are as exact as small ones. libdevice's functions take
    three times as long, and the hardware's are inaccurate.
    """
    turns = tl.fma(position, high, -tl.floor(position * high + 0.5)) + position * low
    quadrant = tl.floor(turns * 4.0 + 0.5)
    x = (turns - quadrant * 0.25) * _TURN
    xx = x * x
    sine = x + x * xx * (((xx * _S9 + _S7) * xx + _S5) * xx + _S3)
    cosine = 1.0 + xx * ((((xx * _C10 + _C8) * xx + _C6) * xx + _C4) * xx + _C2)
    quadrant_mod4 = quadrant.to(tl.int32) & 3
    swaps = (quadrant_mod4 & 1) != 0
    unsigned_sine, unsigned_cosine = tl.where(swaps, cosine, sine), tl.where(swaps, sine, cosine)
    return tl.where((quadrant_mod4 == 1) | (quadrant_mod4 == 2), -unsigned_cosine, unsigned_cosine), tl.where(
        quadrant_mod4 >= 2, -unsigned_sine, unsigned_sine
    )


@triton.jit
def _rotate_pair(first, second, cosine, sine, mask):
    """Rotates one quarter of a head and the next one in place."""
    a = tl.load(first, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(second, mask=mask, other=0.0).to(tl.float32)
    tl.store(first, a * cosine - b * sine, mask=mask)
    tl.store(second, a * sine + b * cosine, mask=mask)


_NUMBERS = ["count", "heads", "by_batch", "by_token", "by_head", "by_number", "at_batch", "at_token", "at_axis", "sign"]


@triton.jit(do_not_specialize=_NUMBERS)
def rocm3d_rope2d_kernel(
    tokens, positions, frequencies, count, heads, by_batch, by_token, by_head, by_number, at_batch, at_token, at_axis,
    sign, QUARTER: tl.constexpr, QUARTER_BLOCK: tl.constexpr, PLAIN: tl.constexpr, WIDE: tl.constexpr,
    HEADS: tl.constexpr, STEPS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Rotates `tokens` in place. PLAIN: the elements of a head are contiguous.

    A program handles HEADS heads at a time, in STEPS steps.
    """
    TOKENS: tl.constexpr = max(TILE // (QUARTER_BLOCK * HEADS), 1)
    blocks = tl.cdiv(count, TOKENS)
    batch = (tl.program_id(0) // blocks).to(tl.int64)
    token = ((tl.program_id(0) % blocks) * TOKENS + tl.arange(0, TOKENS)).to(tl.int64)
    number = tl.arange(0, QUARTER_BLOCK)
    token_mask, frequency_mask = token < count, number < QUARTER
    high = tl.load(frequencies + number, mask=frequency_mask, other=0.0)[None, :]
    low = tl.load(frequencies + QUARTER + number, mask=frequency_mask, other=0.0)[None, :]
    position_ptr = positions + batch * at_batch + token * at_token
    y = tl.load(position_ptr, mask=token_mask, other=0).to(tl.float32) * sign
    x = tl.load(position_ptr + at_axis, mask=token_mask, other=0).to(tl.float32) * sign
    if PLAIN:
        offset, quarter = number, QUARTER
    else:
        offset, quarter = number.to(tl.int64) * by_number, QUARTER * by_number
    y_cosine, y_sine = _cos_sin(y[:, None], high, low)
    x_cosine, x_sine = _cos_sin(x[:, None], high, low)
    for step in tl.static_range(STEPS):
        head = ((tl.program_id(1) * STEPS + step) * HEADS + tl.arange(0, HEADS)).to(tl.int64)
        mask = token_mask[:, None, None] & (head < heads)[None, :, None] & frequency_mask[None, None, :]
        row = (batch * by_batch + token * by_token)[:, None] + (head * by_head)[None, :]
        pointers = tokens + (row * WIDE)[:, :, None] + offset[None, None, :]
        _rotate_pair(pointers, pointers + quarter, y_cosine[:, None, :], y_sine[:, None, :], mask)
        _rotate_pair(pointers + 2 * quarter, pointers + 3 * quarter, x_cosine[:, None, :], x_sine[:, None, :], mask)
