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

UNIT = 8
_UNIT = tl.constexpr(UNIT)
_INTEGERS = ["q_token", "q_head", "k_token", "k_head", "v_token", "v_head", "o_token", "o_head", "total", "heads",
             "tiles", "left", "right", "slopes_step"]  # fmt: skip


@triton.jit
def _offset64(index, stride):
    """Offset of a head in 64 bits; heads may be further apart than 2^31 elements."""
    return index.to(tl.int64) * stride * _UNIT


@triton.jit
def _load_span(starts, ends, sequence):
    """First token and length of a sequence."""
    first = tl.load(starts + sequence)
    return first.to(tl.int64), tl.maximum(tl.load(ends + sequence) - first, 0)


@triton.jit
def _load_tile(base, first, count, token, column, D: tl.constexpr, WHOLE: tl.constexpr, ROWS: tl.constexpr):
    """ROWS rows of a sequence from `first` on, zeros past the last element of a head.

    Past the end of the sequence the last row is repeated; callers give it no weight. Masked loads would need more
    registers than AMD's targets have.
    """
    row = tl.arange(0, ROWS)
    if not WHOLE:
        row = tl.minimum(row, count - 1 - first)
    stride = token * _UNIT
    start = tl.multiple_of(base + stride.to(tl.int64) * first, 16)
    pointers = start + row[:, None] * stride + column[None, :]
    if column.shape[0] == D:
        return tl.load(pointers)
    return tl.load(pointers, mask=column[None, :] < D, other=0.0)


@triton.jit
def _logits(qk, row, column, slope, scale, cap, ALIBI: tl.constexpr, SOFTCAP: tl.constexpr):
    """Scores in base 2 before the mask, and with SOFTCAP the tanh of the scaled score, between -1 and 1."""
    capped = qk * scale
    scores = capped
    if SOFTCAP:
        capped = 1.0 - 2.0 / (tl.exp2(capped) + 1.0)  # tanh; `scale` includes the factor of its argument
        scores = capped * cap
    if ALIBI:
        scores -= tl.abs(row[:, None] - column[None, :]).to(tl.float32) * slope
    return scores, capped


@triton.jit
def _is_visible(row, column, keys, left, right, LEFT: tl.constexpr, RIGHT: tl.constexpr):
    """The mask [rows, columns]; `row` is the query's position among the keys."""
    last = tl.zeros_like(row) + (keys - 1)
    if RIGHT:
        last = tl.minimum(row + right, last)
    if LEFT:
        low = tl.maximum(row - left, 0)  # distance to the middle of the window: one comparison instead of two
        return tl.abs(2 * column[None, :] - (low + last)[:, None]) <= (last - low)[:, None]
    return column[None, :] <= last[:, None]


@triton.jit
def _forward_inner(
    m_i, l_i, acc, q, k_base, v_base, k_token, v_token, begin, end, row, keys, depth, width, slope, scale,
    cap, left, right, MASKED: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, LEFT: tl.constexpr,
    RIGHT: tl.constexpr, ALIBI: tl.constexpr, SOFTCAP: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Adds keys `begin` to `end` to the running m_i, l_i and acc of a tile of queries."""
    for first in range(begin, end, COLUMNS):
        k = _load_tile(k_base, first, keys, k_token, depth, D, not MASKED, COLUMNS)
        qk = tl.dot(q, tl.trans(k), input_precision="ieee")
        column = first + tl.arange(0, COLUMNS)
        scores, _ = _logits(qk, row, column, slope, scale, cap, ALIBI, SOFTCAP)
        if MASKED:
            scores = tl.where(_is_visible(row, column, keys, left, right, LEFT, RIGHT), scores, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(scores, axis=1))
        # A row that has no visible key yet: any finite maximum works, as its probabilities are zero.
        m_safe = tl.where(m_new == float("-inf"), 0.0, m_new) if MASKED else m_new
        p = tl.exp2(scores - m_safe[:, None])
        alpha = tl.exp2(m_i - m_safe)
        v = _load_tile(v_base, first, keys, v_token, width, DV, not MASKED, COLUMNS)
        l_i = l_i * alpha + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")
        m_i = m_new
    return m_i, l_i, acc


@triton.jit(do_not_specialize=_INTEGERS)
def rocm3d_attention_forward_kernel(
    q, k, v, o, lse, q_starts, q_ends, k_starts, k_ends, slopes,
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
    q_first, queries = _load_span(q_starts, q_ends, sequence)
    if first >= queries:
        return
    k_first, keys = _load_span(k_starts, k_ends, sequence)
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

    q_tile = _load_tile(
        q + q_first * (q_token * _UNIT) + _offset64(head, q_head), first, queries, q_token, depth, D, False, M
    )
    k_base = k + k_first * (k_token * _UNIT) + _offset64(head // GROUP, k_head)
    v_base = v + k_first * (v_token * _UNIT) + _offset64(head // GROUP, v_head)
    m_i = tl.full([M], float("-inf"), tl.float32)
    l_i = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, WIDTH], tl.float32)
    if SPLIT and not LEFT:
        m_i, l_i, acc = _forward_inner(
            m_i, l_i, acc, q_tile, k_base, v_base, k_token, v_token, begin, cut, row, keys, depth, width, slope,
            scale, cap, left, right, False, D, DV, LEFT, RIGHT, ALIBI, SOFTCAP, N,
        )  # fmt: skip
    m_i, l_i, acc = _forward_inner(
        m_i, l_i, acc, q_tile, k_base, v_base, k_token, v_token, cut, end, row, keys, depth, width, slope,
        scale, cap, left, right, True, D, DV, LEFT, RIGHT, ALIBI, SOFTCAP, N,
    )  # fmt: skip
    is_empty = l_i == 0.0
    acc = acc * (1.0 / tl.where(is_empty, 1.0, l_i))[:, None]
    row_mask = first + tl.arange(0, M) < queries
    lse_row = tl.where(is_empty, float("inf"), m_i + tl.log2(tl.where(is_empty, 1.0, l_i)))
    tl.store(lse + head.to(tl.int64) * total + q_first + first + tl.arange(0, M), lse_row, mask=row_mask)
    o_offset = (q_first + first) * (o_token * _UNIT) + _offset64(head, o_head)
    pointers = o + o_offset + tl.arange(0, M)[:, None] * (o_token * _UNIT) + width[None, :]
    tl.store(pointers, acc.to(o.dtype.element_ty), mask=row_mask[:, None] & (width[None, :] < DV))


@triton.jit(do_not_specialize=["o_token", "o_head", "g_token", "g_head", "total", "heads"])
def rocm3d_attention_delta_kernel(
    o, do, delta, o_token, o_head, g_token, g_head, total, heads,
    KIND: tl.constexpr, DV: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr,  # noqa: ARG001
):  # fmt: skip
    """delta = row sum of o * do."""
    head = tl.program_id(0) % heads
    first = tl.program_id(0) // heads * ROWS
    width = tl.arange(0, WIDTH)
    o_tile = _load_tile(o + _offset64(head, o_head), first, total, o_token, width, DV, False, ROWS)
    do_tile = _load_tile(do + _offset64(head, g_head), first, total, g_token, width, DV, False, ROWS)
    delta_row = tl.sum(o_tile.to(tl.float32) * do_tile.to(tl.float32), axis=1)
    token = first + tl.arange(0, ROWS)
    tl.store(delta + head.to(tl.int64) * total + token, delta_row, mask=token < total)


@triton.jit
def _recompute_p(
    q, k, row, column, keys, lse, slope, scale, cap, left, right,
    MASKED: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr, ALIBI: tl.constexpr, SOFTCAP: tl.constexpr,
):  # fmt: skip
    """Probabilities p recomputed from lse, and the derivative of the softcap."""
    qk = tl.dot(q, tl.trans(k), input_precision="ieee")
    scores, capped = _logits(qk, row, column, slope, scale, cap, ALIBI, SOFTCAP)
    if MASKED:
        scores = tl.where(_is_visible(row, column, keys, left, right, LEFT, RIGHT), scores, float("-inf"))
    return tl.exp2(scores - lse[:, None]), 1.0 - capped * capped


@triton.jit
def _backward_dq_inner(
    dq, q, do, lse, delta, k_base, v_base, k_token, v_token, begin, end, row, keys, depth, width, slope,
    scale, cap, left, right, MASKED: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, LEFT: tl.constexpr,
    RIGHT: tl.constexpr, ALIBI: tl.constexpr, SOFTCAP: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Adds the contribution of keys `begin` to `end` to dq of a tile of queries."""
    for first in range(begin, end, COLUMNS):
        k = _load_tile(k_base, first, keys, k_token, depth, D, not MASKED, COLUMNS)
        v = _load_tile(v_base, first, keys, v_token, width, DV, not MASKED, COLUMNS)
        column = first + tl.arange(0, COLUMNS)
        p, cap_grad = _recompute_p(
            q, k, row, column, keys, lse, slope, scale, cap, left, right, MASKED, LEFT, RIGHT, ALIBI, SOFTCAP
        )
        ds = p * (tl.dot(do, tl.trans(v), input_precision="ieee") - delta[:, None])
        if SOFTCAP:
            ds = ds * cap_grad
        dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")
    return dq


@triton.jit(do_not_specialize=[*_INTEGERS, "g_token", "g_head", "d_token", "d_head"])
def rocm3d_attention_queries_kernel(
    q, k, v, do, lse, delta, dq, q_starts, q_ends, k_starts, k_ends, slopes,
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
    q_first, queries = _load_span(q_starts, q_ends, sequence)
    if first >= queries:
        return
    k_first, keys = _load_span(k_starts, k_ends, sequence)
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

    row_mask = first + tl.arange(0, M) < queries
    offset = head.to(tl.int64) * total + q_first + first + tl.arange(0, M)
    lse_i = tl.load(lse + offset, mask=row_mask, other=float("inf"))
    delta_i = tl.load(delta + offset, mask=row_mask, other=0.0)
    q_i = _load_tile(
        q + q_first * (q_token * _UNIT) + _offset64(head, q_head), first, queries, q_token, depth, D, False, M
    )
    do_i = _load_tile(
        do + q_first * (g_token * _UNIT) + _offset64(head, g_head), first, queries, g_token, width, DV, False, M
    )
    k_base = k + k_first * (k_token * _UNIT) + _offset64(head // GROUP, k_head)
    v_base = v + k_first * (v_token * _UNIT) + _offset64(head // GROUP, v_head)
    acc = tl.zeros([M, DEPTH], tl.float32)
    if SPLIT and not LEFT:
        acc = _backward_dq_inner(
            acc, q_i, do_i, lse_i, delta_i, k_base, v_base, k_token, v_token, begin, cut, row, keys, depth, width,
            slope, scale, cap, left, right, False, D, DV, LEFT, RIGHT, ALIBI, SOFTCAP, N,
        )  # fmt: skip
    acc = _backward_dq_inner(
        acc, q_i, do_i, lse_i, delta_i, k_base, v_base, k_token, v_token, cut, end, row, keys, depth, width,
        slope, scale, cap, left, right, True, D, DV, LEFT, RIGHT, ALIBI, SOFTCAP, N,
    )  # fmt: skip
    dq_offset = (q_first + first) * (d_token * _UNIT) + _offset64(head, d_head)
    pointers = dq + dq_offset + tl.arange(0, M)[:, None] * (d_token * _UNIT) + depth[None, :]
    tl.store(pointers, (acc * factor).to(dq.dtype.element_ty), mask=row_mask[:, None] & (depth[None, :] < D))


@triton.jit
def _backward_dk_dv_inner(
    dk, dv, k, v, q_base, do_base, lse, deltas, q_token, g_token, begin, end, first, shift, queries, keys, depth,
    width, slope, scale, cap, left, right, MASKED: tl.constexpr, D: tl.constexpr, DV: tl.constexpr, LEFT: tl.constexpr,
    RIGHT: tl.constexpr, ALIBI: tl.constexpr, SOFTCAP: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Adds the contribution of queries `begin` to `end` to dk and dv of a tile of keys.

    Rows past the last query have an infinite lse and so p = 0; columns past the last key are not stored.
    """
    column = first + tl.arange(0, COLUMNS)
    for start in range(begin, end, ROWS):
        query = start + tl.arange(0, ROWS)
        row_mask = query < queries
        lse_i = tl.load(lse + query, mask=row_mask, other=float("inf"))
        delta_i = tl.load(deltas + query, mask=row_mask, other=0.0)
        q = _load_tile(q_base, start, queries, q_token, depth, D, False, ROWS)
        do = _load_tile(do_base, start, queries, g_token, width, DV, False, ROWS)
        p, cap_grad = _recompute_p(
            q, k, query + shift, column, keys, lse_i, slope, scale, cap, left, right, MASKED, LEFT, RIGHT, ALIBI,
            SOFTCAP,
        )  # fmt: skip
        dv = tl.dot(tl.trans(p.to(do.dtype)), do, dv, input_precision="ieee")
        ds = p * (tl.dot(do, tl.trans(v), input_precision="ieee") - delta_i[:, None])
        if SOFTCAP:
            ds = ds * cap_grad
        dk = tl.dot(tl.trans(ds.to(q.dtype)), q, dk, input_precision="ieee")
    return dk, dv


@triton.jit(do_not_specialize=[*_INTEGERS, "g_token", "g_head", "dk_token", "dk_head", "dv_token", "dv_head"])
def rocm3d_attention_keys_kernel(
    q, k, v, do, lse, delta, dk, dv, q_starts, q_ends, k_starts, k_ends, slopes,
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
    k_first, keys = _load_span(k_starts, k_ends, sequence)
    if first >= keys:
        return
    q_first, queries = _load_span(q_starts, q_ends, sequence)
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
    k_tile = _load_tile(
        k + k_first * (k_token * _UNIT) + _offset64(head, k_head), first, keys, k_token, depth, D, False, N
    )
    v_tile = _load_tile(
        v + k_first * (v_token * _UNIT) + _offset64(head, v_head), first, keys, v_token, width, DV, False, N
    )
    dk_j = tl.zeros([N, DEPTH], tl.float32)
    dv_j = tl.zeros([N, WIDTH], tl.float32)
    for member in range(GROUP):
        query_head = head * GROUP + member
        slope = 0.0
        if ALIBI:
            slope = tl.load(slopes + sequence.to(tl.int64) * slopes_step + query_head) * 1.4426950408889634
        row0 = query_head.to(tl.int64) * total + q_first
        q_base = q + q_first * (q_token * _UNIT) + _offset64(query_head, q_head)
        do_base = do + q_first * (g_token * _UNIT) + _offset64(query_head, g_head)
        if LEFT or RIGHT or not SPLIT:
            dk_j, dv_j = _backward_dk_dv_inner(
                dk_j, dv_j, k_tile, v_tile, q_base, do_base, lse + row0, delta + row0, q_token, g_token, begin, whole,
                first, shift, queries, keys, depth, width, slope, scale, cap, left, right, True, D, DV, LEFT, RIGHT,
                ALIBI, SOFTCAP, M, N,
            )  # fmt: skip
        if SPLIT and not LEFT:
            dk_j, dv_j = _backward_dk_dv_inner(
                dk_j, dv_j, k_tile, v_tile, q_base, do_base, lse + row0, delta + row0, q_token, g_token, whole, end,
                first, shift, queries, keys, depth, width, slope, scale, cap, left, right, False, D, DV, LEFT, RIGHT,
                ALIBI, SOFTCAP, M, N,
            )  # fmt: skip
    key_mask = (first + tl.arange(0, N) < keys)[:, None]
    token = (k_first + first + tl.arange(0, N).to(tl.int64))[:, None]
    pointers = dk + token * (dk_token * _UNIT) + _offset64(head, dk_head) + depth[None, :]
    tl.store(pointers, (dk_j * factor).to(dk.dtype.element_ty), mask=key_mask & (depth[None, :] < D))
    pointers = dv + token * (dv_token * _UNIT) + _offset64(head, dv_head) + width[None, :]
    tl.store(pointers, dv_j.to(dv.dtype.element_ty), mask=key_mask & (width[None, :] < DV))
