"""Triton kernels of multi-scale deformable attention: a program owns a tile [queries, points, channels] of one head.

Shapes: value [N, S, M, D], S pixels (`places`) of all levels, M `heads`, D CHANNELS; shapes [L, 2] and starts [L],
height, width and first pixel of each level; locations [N, Q, M, L, P, 2]; weights [N, Q, M, L, P]; output and its
gradient [N, Q, M * D]; keys and factors [N, Q, M, L, P, 4], one entry per corner. All contiguous.

Adjacent lanes hold adjacent channels, so a corner of a sample is one wide load; the position of a point is computed
once for a few lanes. Nothing depends on the wave size.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _place(queries, heads, ROWS: tl.constexpr):
    """Batch, head and queries of this program; programs of the same queries are adjacent."""
    program = tl.program_id(0)
    blocks = tl.cdiv(queries, ROWS)
    rest = program // heads
    return (rest // blocks).to(tl.int64), program % heads, (rest % blocks) * ROWS + tl.arange(0, ROWS)


@triton.jit
def _level(shapes, starts, level, places, LEVELS: tl.constexpr):
    """Height, width and first pixel of a level; all zero if the level exceeds the values."""
    there = level < LEVELS
    height = tl.load(shapes + 2 * level, mask=there, other=0).to(tl.int64)
    width = tl.load(shapes + 2 * level + 1, mask=there, other=0).to(tl.int64)
    start = tl.load(starts + level, mask=there, other=0).to(tl.int64)
    fits = (start >= 0) & (height >= 0) & (width >= 0) & (width <= places) & (height <= places)
    fits = fits & (start + height * width <= places)
    height = tl.where(fits, height, 0)
    return height.to(tl.int32), tl.where(fits, width, 0).to(tl.int32), tl.where(fits, start, 0).to(tl.int32)


@triton.jit
def _along(location, size):
    """Pixel before a location in [0, 1], its distance from that pixel, and whether it is within a pixel of the level.

    The distance comes from one fma and is rounded near zero, not as a coordinate of the whole level; it is negative if
    the coordinate was rounded up to the next pixel.
    """
    size = size.to(tl.float32)
    place = tl.fma(location, size, -0.5)
    near = (place > -1.0) & (place < size)
    before = tl.floor(tl.where(near, place, 0.0))
    part = tl.where(near, tl.fma(location, size, -(before + 0.5)), 0.0)
    step = tl.where(part < 0.0, 1.0, 0.0)
    return (before - step).to(tl.int32), part + step, near


@triton.jit
def _corner(picture, place, channel, there, real, step, MASKED: tl.constexpr):
    """Channels of one pixel per point, zero if it is outside: by a masked load, or a load of pixel 0 and a select."""
    if MASKED:
        at = picture + (place * step)[:, :, None] + channel
        return tl.load(at, mask=there[:, :, None] & real, other=0.0).to(tl.float32)
    else:
        at = picture + (tl.where(there, place, 0) * step)[:, :, None] + channel
        return tl.where(there[:, :, None], tl.load(at, mask=real, other=0.0), 0.0).to(tl.float32)


@triton.jit
def _samples(locations, weights, at, there, height, width):
    """For each point: its upper left pixel, its distance from it, which of the four corners exist, and its weight."""
    x = tl.load(locations + 2 * at, mask=there, other=-2.0).to(tl.float32)
    y = tl.load(locations + 2 * at + 1, mask=there, other=-2.0).to(tl.float32)
    weight = tl.load(weights + at, mask=there, other=0.0).to(tl.float32)
    column, part_x, near_x = _along(x, width)
    line, part_y, near_y = _along(y, height)
    near = near_x & near_y & there
    above, below = near & (line >= 0), near & (line + 1 < height)
    left, right = column >= 0, column + 1 < width
    weight = tl.where(near, weight, 0.0)
    return line * width + column, part_x, part_y, above & left, above & right, below & left, below & right, weight


@triton.jit(do_not_specialize=["queries", "places", "heads"])
def rocm3d_deformable_forward(
    value, shapes, starts, locations, weights, output, queries, places, heads,
    LEVELS: tl.constexpr, POINTS: tl.constexpr, CHANNELS: tl.constexpr, POINT_BLOCK: tl.constexpr,
    CHANNEL_BLOCK: tl.constexpr, TILE: tl.constexpr, UNROLL: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """output = sum over levels and points of weight * bilinear sample."""
    ROWS: tl.constexpr = max(TILE // (POINT_BLOCK * CHANNEL_BLOCK), 1)
    batch, head, query = _place(queries, heads, ROWS)
    point, channel = tl.arange(0, POINT_BLOCK), tl.arange(0, CHANNEL_BLOCK)
    inside = (query < queries)[:, None] & (point < POINTS)[None, :]
    wide, real = channel[None, None, :], (channel < CHANNELS)[None, None, :]
    row = query * heads + head
    value += (batch * places * heads + head) * CHANNELS
    rows = batch * queries * heads
    locations, weights = locations + rows * (LEVELS * POINTS * 2), weights + rows * (LEVELS * POINTS)
    total = tl.zeros([ROWS, POINT_BLOCK, CHANNEL_BLOCK], tl.float32)
    for begin in range(0, LEVELS, UNROLL):
        for step in tl.static_range(UNROLL):
            level = begin + step
            height, width, start = _level(shapes, starts, level, places, LEVELS)
            at = row[:, None] * (LEVELS * POINTS) + (level * POINTS + point[None, :])
            there = inside & (level * POINTS + point < LEVELS * POINTS)[None, :]
            first, x, y, nw, ne, sw, se, weight = _samples(locations, weights, at, there, height, width)
            place = start + first
            a = _corner(value, place, wide, nw, real, heads * CHANNELS, MASKED)
            b = _corner(value, place + 1, wide, ne, real, heads * CHANNELS, MASKED)
            c = _corner(value, place + width, wide, sw, real, heads * CHANNELS, MASKED)
            d = _corner(value, place + width + 1, wide, se, real, heads * CHANNELS, MASKED)
            upper, lower = weight * (1.0 - y), weight * y
            total += a * (upper * (1.0 - x))[:, :, None]
            total += b * (upper * x)[:, :, None]
            total += c * (lower * (1.0 - x))[:, :, None]
            total += d * (lower * x)[:, :, None]
    result = tl.sum(total, axis=1)
    to = output + rows * CHANNELS + row[:, None] * CHANNELS + channel[None, :]
    tl.store(to, result, mask=(query < queries)[:, None] & (channel < CHANNELS)[None, :])


@triton.jit(do_not_specialize=["queries", "places", "heads"])
def rocm3d_deformable_backward(
    value, shapes, starts, locations, weights, given, to_value, to_locations, to_weights, keys, factors,
    queries, places, heads,
    LEVELS: tl.constexpr, POINTS: tl.constexpr, CHANNELS: tl.constexpr, POINT_BLOCK: tl.constexpr,
    CHANNEL_BLOCK: tl.constexpr, ADD: tl.constexpr, TILE: tl.constexpr, UNROLL: tl.constexpr,
    MASKED: tl.constexpr,
):  # fmt: skip
    """Gradients of values, locations and weights. With ADD, that of the values is added atomically.

    Else its summands are stored for the collect kernel: `keys` is the target, `factors` the factor of the row of the
    output's gradient.
    """
    ROWS: tl.constexpr = max(TILE // (POINT_BLOCK * CHANNEL_BLOCK), 1)
    batch, head, query = _place(queries, heads, ROWS)
    point, channel = tl.arange(0, POINT_BLOCK), tl.arange(0, CHANNEL_BLOCK)
    inside = (query < queries)[:, None] & (point < POINTS)[None, :]
    wide, real = channel[None, None, :], (channel < CHANNELS)[None, None, :]
    row = query * heads + head
    first_value = (batch * places * heads + head) * CHANNELS
    value += first_value
    if ADD:
        to_value += first_value
    rows = batch * queries * heads
    locations, weights = locations + rows * (LEVELS * POINTS * 2), weights + rows * (LEVELS * POINTS)
    to_locations, to_weights = to_locations + rows * (LEVELS * POINTS * 2), to_weights + rows * (LEVELS * POINTS)
    output = given + rows * CHANNELS + (row * CHANNELS)[:, None, None] + wide
    slope = tl.load(output, mask=(query < queries)[:, None, None] & real, other=0.0).to(tl.float32)
    for begin in range(0, LEVELS, UNROLL):
        for step in tl.static_range(UNROLL):
            level = begin + step
            height, width, start = _level(shapes, starts, level, places, LEVELS)
            at = row[:, None] * (LEVELS * POINTS) + (level * POINTS + point[None, :])
            there = inside & (level * POINTS + point < LEVELS * POINTS)[None, :]
            first, x, y, nw, ne, sw, se, weight = _samples(locations, weights, at, there, height, width)
            place = start + first
            a = tl.sum(_corner(value, place, wide, nw, real, heads * CHANNELS, MASKED) * slope, axis=2)
            b = tl.sum(_corner(value, place + 1, wide, ne, real, heads * CHANNELS, MASKED) * slope, axis=2)
            c = tl.sum(_corner(value, place + width, wide, sw, real, heads * CHANNELS, MASKED) * slope, axis=2)
            d = tl.sum(_corner(value, place + width + 1, wide, se, real, heads * CHANNELS, MASKED) * slope, axis=2)
            over, under = a + (b - a) * x, c + (d - c) * x
            tl.store(to_weights + at, over + (under - over) * y, mask=there)
            by_x, by_y = (b - a) + ((d - c) - (b - a)) * y, under - over
            tl.store(to_locations + 2 * at, by_x * weight * width, mask=there)
            tl.store(to_locations + 2 * at + 1, by_y * weight * height, mask=there)
            upper, lower = weight * (1.0 - y), weight * y
            f_nw, f_ne, f_sw, f_se = upper * (1.0 - x), upper * x, lower * (1.0 - x), lower * x
            if ADD:
                to = to_value + (place * heads * CHANNELS)[:, :, None] + wide
                right, down = heads * CHANNELS, width * heads * CHANNELS
                tl.atomic_add(to, slope * f_nw[:, :, None], mask=nw[:, :, None] & real, sem="relaxed")
                tl.atomic_add(to + right, slope * f_ne[:, :, None], mask=ne[:, :, None] & real, sem="relaxed")
                tl.atomic_add(to + down, slope * f_sw[:, :, None], mask=sw[:, :, None] & real, sem="relaxed")
                tl.atomic_add(to + (down + right), slope * f_se[:, :, None], mask=se[:, :, None] & real, sem="relaxed")
            else:
                entry = (rows * (LEVELS * POINTS) + at) * 4
                target = (batch * places + place) * heads + head
                none = tl.num_programs(0) // (heads * tl.cdiv(queries, ROWS)) * places.to(tl.int64) * heads
                tl.store(keys + entry, tl.where(nw, target, none), mask=there)
                tl.store(keys + entry + 1, tl.where(ne, target + heads, none), mask=there)
                tl.store(keys + entry + 2, tl.where(sw, target + width * heads, none), mask=there)
                tl.store(keys + entry + 3, tl.where(se, target + (width + 1) * heads, none), mask=there)
                tl.store(factors + entry, f_nw, mask=there)
                tl.store(factors + entry + 1, f_ne, mask=there)
                tl.store(factors + entry + 2, f_sw, mask=there)
                tl.store(factors + entry + 3, f_se, mask=there)


@triton.jit(do_not_specialize=["targets"])
def rocm3d_deformable_collect(
    order, factors, begins, given, to_value, targets,
    SHARE: tl.constexpr, CHANNELS: tl.constexpr, CHANNEL_BLOCK: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """The gradient of the values in a fixed order: each target sums its summands; SHARE summands belong to one row."""
    ROWS: tl.constexpr = max(TILE // CHANNEL_BLOCK, 1)
    target = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    channel = tl.arange(0, CHANNEL_BLOCK)
    known, real = target < targets, (channel < CHANNELS)[None, :]
    first = tl.load(begins + target, mask=known, other=0)
    count = tl.load(begins + target + 1, mask=known, other=0) - first
    total = tl.zeros([ROWS, CHANNEL_BLOCK], tl.float32)
    for step in range(tl.max(count, 0)):
        there = step < count
        entry = tl.load(order + first + step, mask=there, other=0)
        factor = tl.load(factors + entry, mask=there, other=0.0)
        at = given + (entry // SHARE * CHANNELS)[:, None] + channel[None, :]
        total += tl.load(at, mask=there[:, None] & real, other=0.0).to(tl.float32) * factor[:, None]
    tl.store(to_value + target[:, None] * CHANNELS + channel[None, :], total, mask=known[:, None] & real)
