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
def _circle(position, high, low):
    """Cosine and sine of `position * (high + low)` turns.

    Whole turns are removed before rounding, so large positions are as exact as small ones. libdevice's functions take
    three times as long, and the hardware's are inaccurate.
    """
    part = tl.fma(position, high, -tl.floor(position * high + 0.5)) + position * low
    quarter = tl.floor(part * 4.0 + 0.5)
    x = (part - quarter * 0.25) * _TURN
    xx = x * x
    sine = x + x * xx * (((xx * _S9 + _S7) * xx + _S5) * xx + _S3)
    cosine = 1.0 + xx * ((((xx * _C10 + _C8) * xx + _C6) * xx + _C4) * xx + _C2)
    which = quarter.to(tl.int32) & 3
    odd = (which & 1) != 0
    up, along = tl.where(odd, cosine, sine), tl.where(odd, sine, cosine)
    return tl.where((which == 1) | (which == 2), -along, along), tl.where(which >= 2, -up, up)


@triton.jit
def _turned(first, second, cosine, sine, inside):
    """Rotates one quarter of a head and the next one in place."""
    a = tl.load(first, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(second, mask=inside, other=0.0).to(tl.float32)
    tl.store(first, a * cosine - b * sine, mask=inside)
    tl.store(second, a * sine + b * cosine, mask=inside)


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
    there, real = token < count, number < QUARTER
    high = tl.load(frequencies + number, mask=real, other=0.0)[None, :]
    low = tl.load(frequencies + QUARTER + number, mask=real, other=0.0)[None, :]
    place = positions + batch * at_batch + token * at_token
    down = tl.load(place, mask=there, other=0).to(tl.float32) * sign
    across = tl.load(place + at_axis, mask=there, other=0).to(tl.float32) * sign
    if PLAIN:
        offset, quarter = number, QUARTER
    else:
        offset, quarter = number.to(tl.int64) * by_number, QUARTER * by_number
    down_cosine, down_sine = _circle(down[:, None], high, low)
    across_cosine, across_sine = _circle(across[:, None], high, low)
    for step in tl.static_range(STEPS):
        head = ((tl.program_id(1) * STEPS + step) * HEADS + tl.arange(0, HEADS)).to(tl.int64)
        inside = there[:, None, None] & (head < heads)[None, :, None] & real[None, None, :]
        row = (batch * by_batch + token * by_token)[:, None] + (head * by_head)[None, :]
        to = tokens + (row * WIDE)[:, :, None] + offset[None, None, :]
        _turned(to, to + quarter, down_cosine[:, None, :], down_sine[:, None, :], inside)
        _turned(to + 2 * quarter, to + 3 * quarter, across_cosine[:, None, :], across_sine[:, None, :], inside)
