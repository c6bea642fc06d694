"""Triton kernels of attention over packed sequences: forward, delta, dq, and dk with dv.

Shapes: q, dq [T, H, D]; k, dk [Tk, H / GROUP, D]; v, dv [Tk, H / GROUP, DV]; o, do [T, H, DV]; lse, delta [H, T] in
float32, T being `total`. q_starts, q_ends, k_starts, k_ends [N] are token ranges of N sequences; slopes [H] or [N, H].
DEPTH and WIDTH are D and DV rounded up to powers of two. x_token and x_head are the strides of x between tokens and
heads, in units of 8 elements: so the compiler knows that rows begin at multiples of 16 bytes.

Online softmax in base 2: m_i, l_i and acc are the running row maximum, row sum and accumulator, and no score leaves its
tile. A program owns a tile of queries (forward, dq) or of keys (dk, dv) of one head of one sequence; programs past the
end of a short sequence return at once. With SPLIT, tiles that the mask does not cut run in a loop without masking; on
targets with few registers a single loop masks all tiles. Backward recomputes p = 2^(s - lse). No atomics and a fixed
order of every sum: equal inputs give bitwise equal results.

KIND is the dtype; it is a constant because compiled kernels are cached by their constants. Tiles are smaller for large
heads and for float32.
"""

from __future__ import annotations

import triton
import triton.language as tl

PIECE = 8
_PIECE = tl.constexpr(PIECE)
_INTEGERS = ["q_token", "q_head", "k_token", "k_head", "v_token", "v_head", "o_token", "o_head", "total", "heads",
             "tiles", "left", "right", "slopes_step"]  # fmt: skip


@triton.jit
def _far(number, step):
    """Offset of a head in 64 bits; heads may be further apart than 2^31 elements."""
    return number.to(tl.int64) * step * _PIECE


@triton.jit
def _span(starts, ends, sequence):
    """First token and length of a sequence."""
    first = tl.load(starts + sequence)
    return first.to(tl.int64), tl.maximum(tl.load(ends + sequence) - first, 0)


@triton.jit
def _tile(base, first, count, token, column, D: tl.constexpr, WHOLE: tl.constexpr, ROWS: tl.constexpr):
    """ROWS rows of a sequence from `first` on, zeros past the last element of a head.

    Past the end of the sequence the last row is repeated; callers give it no weight. Masked loads would need more
    registers than AMD's targets have.
    """
    row = tl.arange(0, ROWS)
    if not WHOLE:
        row = tl.minimum(row, count - 1 - first)
    step = token * _PIECE
    start = tl.multiple_of(base + step.to(tl.int64) * first, 16)
    at = start + row[:, None] * step + column[None, :]
    if column.shape[0] == D:
        return tl.load(at)
    return tl.load(at, mask=column[None, :] < D, other=0.0)


@triton.jit
def _logits(product, row, column, slope, scale, cap, ALIBI: tl.constexpr, SOFTCAP: tl.constexpr):
    """Scores in base 2 before the mask, and with SOFTCAP the tanh of the scaled score, between -1 and 1."""
    capped = product * scale
    scores = capped
    if SOFTCAP:
        capped = 1.0 - 2.0 / (tl.exp2(capped) + 1.0)  # tanh; `scale` includes the factor of its argument
        scores = capped * cap
    if ALIBI:
        scores -= tl.abs(row[:, None] - column[None, :]).to(tl.float32) * slope
    return scores, capped


@triton.jit
def _seen(row, column, keys, left, right, LEFT: tl.constexpr, RIGHT: tl.constexpr):
    """The mask [rows, columns]; `row` is the query's position among the keys."""
    last = tl.zeros_like(row) + (keys - 1)
    if RIGHT:
        last = tl.minimum(row + right, last)
    if LEFT:
        low = tl.maximum(row - left, 0)  # distance to the middle of the window: one comparison instead of two
        return tl.abs(2 * column[None, :] - (low + last)[:, None]) <= (last - low)[:, None]
    return column[None, :] <= last[:, None]


@triton.jit
def _gather(
    peak, total, sums, queries, k_base, v_base, k_token, v_token, begin, end, row, keys, depth, width, slope, scale,
    cap, left, right, MASKED: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, LEFT: tl.constexpr,
    RIGHT: tl.constexpr, ALIBI: tl.constexpr, SOFTCAP: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Adds keys `begin` to `end` to the running m_i, l_i and acc of a tile of queries."""
    for first in range(begin, end, COLUMNS):
        k = _tile(k_base, first, keys, k_token, depth, D, not MASKED, COLUMNS)
        product = tl.dot(queries, tl.trans(k), input_precision="ieee")
        column = first + tl.arange(0, COLUMNS)
        scores, _ = _logits(product, row, column, slope, scale, cap, ALIBI, SOFTCAP)
        if MASKED:
            scores = tl.where(_seen(row, column, keys, left, right, LEFT, RIGHT), scores, float("-inf"))
        new = tl.maximum(peak, tl.max(scores, axis=1))
        # A row that has no visible key yet: any finite maximum works, as its probabilities are zero.
        base = tl.where(new == float("-inf"), 0.0, new) if MASKED else new
        weights = tl.exp2(scores - base[:, None])
        factor = tl.exp2(peak - base)
        v = _tile(v_base, first, keys, v_token, width, DV, not MASKED, COLUMNS)
        total = total * factor + tl.sum(weights, axis=1)
        sums = tl.dot(weights.to(v.dtype), v, sums * factor[:, None], input_precision="ieee")
        peak = new
    return peak, total, sums


@triton.jit(do_not_specialize=_INTEGERS)
def rocm3d_attention_forward_kernel(
    q, k, v, out, kept, q_starts, q_ends, k_starts, k_ends, slopes,
    q_token, q_head, k_token, k_head, v_token, v_head, o_token, o_head, total, heads, tiles, left, right, slopes_step,
    scale, cap,
    KIND: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, DEPTH: tl.constexpr, WIDTH: tl.constexpr,
    GROUP: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr, TOP: tl.constexpr, ALIBI: tl.constexpr,
    SOFTCAP: tl.constexpr,
    ROWS_64: tl.constexpr, COLUMNS_64: tl.constexpr, ROWS_128: tl.constexpr, COLUMNS_128: tl.constexpr,
    ROWS_256: tl.constexpr, COLUMNS_256: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """o, and lse = m_i + log2(l_i); for a row without keys o is zero and lse is infinite."""
    SMALL: tl.constexpr = max(DEPTH, WIDTH) <= 64 and KIND != "float32"
    LARGE: tl.constexpr = max(DEPTH, WIDTH) > 128 or KIND == "float32"
    M: tl.constexpr = ROWS_64 if SMALL else (ROWS_256 if LARGE else ROWS_128)
    N: tl.constexpr = COLUMNS_64 if SMALL else (COLUMNS_256 if LARGE else COLUMNS_128)
    program = tl.program_id(0)
    # Under a causal mask the last tiles have the most keys, so they start first.
    first = (tiles - 1 - program % tiles) * M
    head = program // tiles % heads
    sequence = program // tiles // heads
    q_first, queries = _span(q_starts, q_ends, sequence)
    if first >= queries:
        return
    k_first, keys = _span(k_starts, k_ends, sequence)
    shift = 0 if TOP else keys - queries
    row = first + shift + tl.arange(0, M)
    depth, width = tl.arange(0, DEPTH), tl.arange(0, WIDTH)

    begin, cut, end = 0, keys // N * N, keys
    if RIGHT:
        end = tl.maximum(tl.minimum(keys, first + shift + M + right), 0)
        cut = tl.minimum(cut, tl.maximum(first + shift + right + 1, 0) // N * N)
    if LEFT:
        begin = tl.maximum(first + shift - left, 0) // N * N
    if LEFT or not SPLIT:
        cut = begin  # a window is short: all of its tiles are masked
    slope = 0.0
    if ALIBI:
        slope = tl.load(slopes + sequence.to(tl.int64) * slopes_step + head) * 1.4426950408889634

    tile = _tile(q + q_first * (q_token * _PIECE) + _far(head, q_head), first, queries, q_token, depth, D, False, M)
    k_base = k + k_first * (k_token * _PIECE) + _far(head // GROUP, k_head)
    v_base = v + k_first * (v_token * _PIECE) + _far(head // GROUP, v_head)
    peak = tl.full([M], float("-inf"), tl.float32)
    sum_ = tl.zeros([M], tl.float32)
    sums = tl.zeros([M, WIDTH], tl.float32)
    if SPLIT and not LEFT:
        peak, sum_, sums = _gather(
            peak, sum_, sums, tile, k_base, v_base, k_token, v_token, begin, cut, row, keys, depth, width, slope,
            scale, cap, left, right, False, D, DV, LEFT, RIGHT, ALIBI, SOFTCAP, N,
        )  # fmt: skip
    peak, sum_, sums = _gather(
        peak, sum_, sums, tile, k_base, v_base, k_token, v_token, cut, end, row, keys, depth, width, slope,
        scale, cap, left, right, True, D, DV, LEFT, RIGHT, ALIBI, SOFTCAP, N,
    )  # fmt: skip
    nothing = sum_ == 0.0
    sums = sums * (1.0 / tl.where(nothing, 1.0, sum_))[:, None]
    mine = first + tl.arange(0, M) < queries
    kept_row = tl.where(nothing, float("inf"), peak + tl.log2(tl.where(nothing, 1.0, sum_)))
    tl.store(kept + head.to(tl.int64) * total + q_first + first + tl.arange(0, M), kept_row, mask=mine)
    token = (q_first + first) * (o_token * _PIECE) + _far(head, o_head)
    at = out + token + tl.arange(0, M)[:, None] * (o_token * _PIECE) + width[None, :]
    tl.store(at, sums.to(out.dtype.element_ty), mask=mine[:, None] & (width[None, :] < DV))


@triton.jit(do_not_specialize=["o_token", "o_head", "g_token", "g_head", "total", "heads"])
def rocm3d_attention_delta_kernel(
    out, given, delta, o_token, o_head, g_token, g_head, total, heads,
    KIND: tl.constexpr, DV: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr,  # noqa: ARG001
):  # fmt: skip
    """delta = row sum of o * do."""
    head = tl.program_id(0) % heads
    first = tl.program_id(0) // heads * ROWS
    width = tl.arange(0, WIDTH)
    o = _tile(out + _far(head, o_head), first, total, o_token, width, DV, False, ROWS)
    g = _tile(given + _far(head, g_head), first, total, g_token, width, DV, False, ROWS)
    product = tl.sum(o.to(tl.float32) * g.to(tl.float32), axis=1)
    token = first + tl.arange(0, ROWS)
    tl.store(delta + head.to(tl.int64) * total + token, product, mask=token < total)


@triton.jit
def _weights(
    queries, keys_, row, column, count, kept, slope, scale, cap, left, right,
    MASKED: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr, ALIBI: tl.constexpr, SOFTCAP: tl.constexpr,
):  # fmt: skip
    """Probabilities p recomputed from lse, and the derivative of the softcap."""
    product = tl.dot(queries, tl.trans(keys_), input_precision="ieee")
    scores, capped = _logits(product, row, column, slope, scale, cap, ALIBI, SOFTCAP)
    if MASKED:
        scores = tl.where(_seen(row, column, count, left, right, LEFT, RIGHT), scores, float("-inf"))
    return tl.exp2(scores - kept[:, None]), 1.0 - capped * capped


@triton.jit
def _back_queries(
    sums, queries, given, kept, delta, k_base, v_base, k_token, v_token, begin, end, row, keys, depth, width, slope,
    scale, cap, left, right, MASKED: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, LEFT: tl.constexpr,
    RIGHT: tl.constexpr, ALIBI: tl.constexpr, SOFTCAP: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Adds the contribution of keys `begin` to `end` to dq of a tile of queries."""
    for first in range(begin, end, COLUMNS):
        k = _tile(k_base, first, keys, k_token, depth, D, not MASKED, COLUMNS)
        v = _tile(v_base, first, keys, v_token, width, DV, not MASKED, COLUMNS)
        column = first + tl.arange(0, COLUMNS)
        weights, slack = _weights(
            queries, k, row, column, keys, kept, slope, scale, cap, left, right, MASKED, LEFT, RIGHT, ALIBI, SOFTCAP
        )
        change = weights * (tl.dot(given, tl.trans(v), input_precision="ieee") - delta[:, None])
        if SOFTCAP:
            change = change * slack
        sums = tl.dot(change.to(k.dtype), k, sums, input_precision="ieee")
    return sums


@triton.jit(do_not_specialize=[*_INTEGERS, "g_token", "g_head", "d_token", "d_head"])
def rocm3d_attention_queries_kernel(
    q, k, v, given, kept, deltas, to_q, q_starts, q_ends, k_starts, k_ends, slopes,
    q_token, q_head, k_token, k_head, v_token, v_head, g_token, g_head, d_token, d_head, total, heads, tiles,
    left, right, slopes_step, scale, cap, factor,
    KIND: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, DEPTH: tl.constexpr, WIDTH: tl.constexpr,
    GROUP: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr, TOP: tl.constexpr, ALIBI: tl.constexpr,
    SOFTCAP: tl.constexpr,
    ROWS_64: tl.constexpr, COLUMNS_64: tl.constexpr, ROWS_128: tl.constexpr, COLUMNS_128: tl.constexpr,
    ROWS_256: tl.constexpr, COLUMNS_256: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """dq of a tile of queries."""
    SMALL: tl.constexpr = max(DEPTH, WIDTH) <= 64 and KIND != "float32"
    LARGE: tl.constexpr = max(DEPTH, WIDTH) > 128 or KIND == "float32"
    M: tl.constexpr = ROWS_64 if SMALL else (ROWS_256 if LARGE else ROWS_128)
    N: tl.constexpr = COLUMNS_64 if SMALL else (COLUMNS_256 if LARGE else COLUMNS_128)
    program = tl.program_id(0)
    first = (tiles - 1 - program % tiles) * M
    head = program // tiles % heads
    sequence = program // tiles // heads
    q_first, queries = _span(q_starts, q_ends, sequence)
    if first >= queries:
        return
    k_first, keys = _span(k_starts, k_ends, sequence)
    shift = 0 if TOP else keys - queries
    row = first + shift + tl.arange(0, M)
    depth, width = tl.arange(0, DEPTH), tl.arange(0, WIDTH)
    begin, cut, end = 0, keys // N * N, keys
    if RIGHT:
        end = tl.maximum(tl.minimum(keys, first + shift + M + right), 0)
        cut = tl.minimum(cut, tl.maximum(first + shift + right + 1, 0) // N * N)
    if LEFT:
        begin = tl.maximum(first + shift - left, 0) // N * N
    if LEFT or not SPLIT:
        cut = begin  # a window is short: all of its tiles are masked
    slope = 0.0
    if ALIBI:
        slope = tl.load(slopes + sequence.to(tl.int64) * slopes_step + head) * 1.4426950408889634

    mine = first + tl.arange(0, M) < queries
    at = head.to(tl.int64) * total + q_first + first + tl.arange(0, M)
    kept_row = tl.load(kept + at, mask=mine, other=float("inf"))
    delta = tl.load(deltas + at, mask=mine, other=0.0)
    tile = _tile(q + q_first * (q_token * _PIECE) + _far(head, q_head), first, queries, q_token, depth, D, False, M)
    grad = _tile(
        given + q_first * (g_token * _PIECE) + _far(head, g_head), first, queries, g_token, width, DV, False, M
    )
    k_base = k + k_first * (k_token * _PIECE) + _far(head // GROUP, k_head)
    v_base = v + k_first * (v_token * _PIECE) + _far(head // GROUP, v_head)
    sums = tl.zeros([M, DEPTH], tl.float32)
    if SPLIT and not LEFT:
        sums = _back_queries(
            sums, tile, grad, kept_row, delta, k_base, v_base, k_token, v_token, begin, cut, row, keys, depth, width,
            slope, scale, cap, left, right, False, D, DV, LEFT, RIGHT, ALIBI, SOFTCAP, N,
        )  # fmt: skip
    sums = _back_queries(
        sums, tile, grad, kept_row, delta, k_base, v_base, k_token, v_token, cut, end, row, keys, depth, width,
        slope, scale, cap, left, right, True, D, DV, LEFT, RIGHT, ALIBI, SOFTCAP, N,
    )  # fmt: skip
    token = (q_first + first) * (d_token * _PIECE) + _far(head, d_head)
    to = to_q + token + tl.arange(0, M)[:, None] * (d_token * _PIECE) + depth[None, :]
    tl.store(to, (sums * factor).to(to_q.dtype.element_ty), mask=mine[:, None] & (depth[None, :] < D))


@triton.jit
def _back_keys(
    by_k, by_v, k, v, q_base, g_base, kept, deltas, q_token, g_token, begin, end, first, shift, queries, keys, depth,
    width, slope, scale, cap, left, right, MASKED: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, LEFT: tl.constexpr,
    RIGHT: tl.constexpr, ALIBI: tl.constexpr, SOFTCAP: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Adds the contribution of queries `begin` to `end` to dk and dv of a tile of keys.

    Rows past the last query have an infinite lse and so p = 0; columns past the last key are not stored.
    """
    column = first + tl.arange(0, COLUMNS)
    for start in range(begin, end, ROWS):
        place = start + tl.arange(0, ROWS)
        mine = place < queries
        kept_row = tl.load(kept + place, mask=mine, other=float("inf"))
        delta = tl.load(deltas + place, mask=mine, other=0.0)
        tile = _tile(q_base, start, queries, q_token, depth, D, False, ROWS)
        grad = _tile(g_base, start, queries, g_token, width, DV, False, ROWS)
        weights, slack = _weights(
            tile, k, place + shift, column, keys, kept_row, slope, scale, cap, left, right, MASKED, LEFT, RIGHT, ALIBI,
            SOFTCAP,
        )  # fmt: skip
        by_v = tl.dot(tl.trans(weights.to(grad.dtype)), grad, by_v, input_precision="ieee")
        change = weights * (tl.dot(grad, tl.trans(v), input_precision="ieee") - delta[:, None])
        if SOFTCAP:
            change = change * slack
        by_k = tl.dot(tl.trans(change.to(tile.dtype)), tile, by_k, input_precision="ieee")
    return by_k, by_v


@triton.jit(do_not_specialize=[*_INTEGERS, "g_token", "g_head", "dk_token", "dk_head", "dv_token", "dv_head"])
def rocm3d_attention_keys_kernel(
    q, k, v, given, kept, deltas, to_k, to_v, q_starts, q_ends, k_starts, k_ends, slopes,
    q_token, q_head, k_token, k_head, v_token, v_head, g_token, g_head, dk_token, dk_head, dv_token, dv_head,
    total, heads, tiles, left, right, slopes_step, scale, cap, factor,
    KIND: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, DEPTH: tl.constexpr, WIDTH: tl.constexpr,
    GROUP: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr, TOP: tl.constexpr, ALIBI: tl.constexpr,
    SOFTCAP: tl.constexpr,
    ROWS_64: tl.constexpr, COLUMNS_64: tl.constexpr, ROWS_128: tl.constexpr, COLUMNS_128: tl.constexpr,
    ROWS_256: tl.constexpr, COLUMNS_256: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """dk and dv of a tile of keys, summed over the query heads that share it; `heads` counts key heads."""
    SMALL: tl.constexpr = max(DEPTH, WIDTH) <= 64 and KIND != "float32"
    LARGE: tl.constexpr = max(DEPTH, WIDTH) > 128 or KIND == "float32"
    M: tl.constexpr = ROWS_64 if SMALL else (ROWS_256 if LARGE else ROWS_128)
    N: tl.constexpr = COLUMNS_64 if SMALL else (COLUMNS_256 if LARGE else COLUMNS_128)
    program = tl.program_id(0)
    first = program % tiles * N
    head = program // tiles % heads
    sequence = program // tiles // heads
    k_first, keys = _span(k_starts, k_ends, sequence)
    if first >= keys:
        return
    q_first, queries = _span(q_starts, q_ends, sequence)
    shift = 0 if TOP else keys - queries
    depth, width = tl.arange(0, DEPTH), tl.arange(0, WIDTH)
    # Queries before `whole` are masked; queries from `whole` on see every key of the tile.
    begin, whole, end = 0, 0, queries
    if RIGHT:
        begin = tl.maximum(first - shift - right, 0) // M * M
        whole = tl.maximum(tl.cdiv(first + N - 1 - shift - right, M), 0) * M
    if LEFT:
        end = tl.maximum(tl.minimum(queries, first + N - shift + left), 0)
    if LEFT or not SPLIT:
        whole = end
    whole = tl.minimum(whole, end)
    k_tile = _tile(k + k_first * (k_token * _PIECE) + _far(head, k_head), first, keys, k_token, depth, D, False, N)
    v_tile = _tile(v + k_first * (v_token * _PIECE) + _far(head, v_head), first, keys, v_token, width, DV, False, N)
    by_k = tl.zeros([N, DEPTH], tl.float32)
    by_v = tl.zeros([N, WIDTH], tl.float32)
    for one in range(GROUP):
        who = head * GROUP + one
        slope = 0.0
        if ALIBI:
            slope = tl.load(slopes + sequence.to(tl.int64) * slopes_step + who) * 1.4426950408889634
        at = who.to(tl.int64) * total + q_first
        q_base = q + q_first * (q_token * _PIECE) + _far(who, q_head)
        g_base = given + q_first * (g_token * _PIECE) + _far(who, g_head)
        if LEFT or RIGHT or not SPLIT:
            by_k, by_v = _back_keys(
                by_k, by_v, k_tile, v_tile, q_base, g_base, kept + at, deltas + at, q_token, g_token, begin, whole,
                first, shift, queries, keys, depth, width, slope, scale, cap, left, right, True, D, DV, LEFT, RIGHT,
                ALIBI, SOFTCAP, M, N,
            )  # fmt: skip
        if SPLIT and not LEFT:
            by_k, by_v = _back_keys(
                by_k, by_v, k_tile, v_tile, q_base, g_base, kept + at, deltas + at, q_token, g_token, whole, end,
                first, shift, queries, keys, depth, width, slope, scale, cap, left, right, False, D, DV, LEFT, RIGHT,
                ALIBI, SOFTCAP, M, N,
            )  # fmt: skip
    mine = (first + tl.arange(0, N) < keys)[:, None]
    token = (k_first + first + tl.arange(0, N).to(tl.int64))[:, None]
    to = to_k + token * (dk_token * _PIECE) + _far(head, dk_head) + depth[None, :]
    tl.store(to, (by_k * factor).to(to_k.dtype.element_ty), mask=mine & (depth[None, :] < D))
    to = to_v + token * (dv_token * _PIECE) + _far(head, dv_head) + width[None, :]
    tl.store(to, by_v.to(to_v.dtype.element_ty), mask=mine & (width[None, :] < DV))
