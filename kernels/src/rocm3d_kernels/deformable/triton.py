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
def _program_tile(queries, heads, ROWS: tl.constexpr):
    """Batch, head and queries of this program; programs of the same queries are adjacent."""
    program = tl.program_id(0)
    blocks = tl.cdiv(queries, ROWS)
    rest = program // heads
    return (rest // blocks).to(tl.int64), program % heads, (rest % blocks) * ROWS + tl.arange(0, ROWS)


@triton.jit
def _load_level(shapes, starts, level, places, LEVELS: tl.constexpr):
    """Height, width and first pixel of a level; all zero if the level exceeds the values."""
    exists = level < LEVELS
    height = tl.load(shapes + 2 * level, mask=exists, other=0).to(tl.int64)
    width = tl.load(shapes + 2 * level + 1, mask=exists, other=0).to(tl.int64)
    start = tl.load(starts + level, mask=exists, other=0).to(tl.int64)
    fits = (start >= 0) & (height >= 0) & (width >= 0) & (width <= places) & (height <= places)
    fits = fits & (start + height * width <= places)
    height = tl.where(fits, height, 0)
    return height.to(tl.int32), tl.where(fits, width, 0).to(tl.int32), tl.where(fits, start, 0).to(tl.int32)


@triton.jit
def _pixel_before(location, size):
    """Pixel before a location in [0, 1], its distance from that pixel, and whether it is within a pixel of the level.

    The distance comes from one fma and is rounded near zero, not as a coordinate of the whole level; it is negative if
    the coordinate was rounded up to the next pixel.
    """
    size = size.to(tl.float32)
    coordinate = tl.fma(location, size, -0.5)
    near = (coordinate > -1.0) & (coordinate < size)
    before = tl.floor(tl.where(near, coordinate, 0.0))
    distance = tl.where(near, tl.fma(location, size, -(before + 0.5)), 0.0)
    step = tl.where(distance < 0.0, 1.0, 0.0)
    return (before - step).to(tl.int32), distance + step, near


@triton.jit
def _load_corner(picture, pixel, channel, is_inside, channel_mask, stride, MASKED: tl.constexpr):
    """Channels of one pixel per point, zero if it is outside: by a masked load, or a load of pixel 0 and a select."""
    if MASKED:
        pointers = picture + (pixel * stride)[:, :, None] + channel
        return tl.load(pointers, mask=is_inside[:, :, None] & channel_mask, other=0.0).to(tl.float32)
    else:
        pointers = picture + (tl.where(is_inside, pixel, 0) * stride)[:, :, None] + channel
        return tl.where(is_inside[:, :, None], tl.load(pointers, mask=channel_mask, other=0.0), 0.0).to(tl.float32)


@triton.jit
def _load_samples(locations, weights, sample, mask, height, width):
    """For each point: its upper left pixel, its distance from it, which of the four corners exist, and its weight."""
    x = tl.load(locations + 2 * sample, mask=mask, other=-2.0).to(tl.float32)
    y = tl.load(locations + 2 * sample + 1, mask=mask, other=-2.0).to(tl.float32)
    weight = tl.load(weights + sample, mask=mask, other=0.0).to(tl.float32)
    column, part_x, near_x = _pixel_before(x, width)
    row, part_y, near_y = _pixel_before(y, height)
    near = near_x & near_y & mask
    above, below = near & (row >= 0), near & (row + 1 < height)
    left, right = column >= 0, column + 1 < width
    weight = tl.where(near, weight, 0.0)
    return row * width + column, part_x, part_y, above & left, above & right, below & left, below & right, weight


@triton.jit(do_not_specialize=["queries", "places", "heads"])
def rocm3d_deformable_forward(
    value, shapes, starts, locations, weights, output, queries, places, heads,
    LEVELS: tl.constexpr, POINTS: tl.constexpr, CHANNELS: tl.constexpr, POINT_BLOCK: tl.constexpr,
    CHANNEL_BLOCK: tl.constexpr, TILE: tl.constexpr, UNROLL: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """output = sum over levels and points of weight * bilinear sample."""
    ROWS: tl.constexpr = max(TILE // (POINT_BLOCK * CHANNEL_BLOCK), 1)
    batch, head, query = _program_tile(queries, heads, ROWS)
    point, channel = tl.arange(0, POINT_BLOCK), tl.arange(0, CHANNEL_BLOCK)
    inside = (query < queries)[:, None] & (point < POINTS)[None, :]
    channel_3d, channel_mask = channel[None, None, :], (channel < CHANNELS)[None, None, :]
    row = query * heads + head
    value += (batch * places * heads + head) * CHANNELS
    rows = batch * queries * heads
    locations, weights = locations + rows * (LEVELS * POINTS * 2), weights + rows * (LEVELS * POINTS)
    acc = tl.zeros([ROWS, POINT_BLOCK, CHANNEL_BLOCK], tl.float32)
    for begin in range(0, LEVELS, UNROLL):
        for step in tl.static_range(UNROLL):
            level = begin + step
            height, width, start = _load_level(shapes, starts, level, places, LEVELS)
            sample = row[:, None] * (LEVELS * POINTS) + (level * POINTS + point[None, :])
            mask = inside & (level * POINTS + point < LEVELS * POINTS)[None, :]
            first, x, y, nw, ne, sw, se, weight = _load_samples(locations, weights, sample, mask, height, width)
            pixel = start + first
            a = _load_corner(value, pixel, channel_3d, nw, channel_mask, heads * CHANNELS, MASKED)
            b = _load_corner(value, pixel + 1, channel_3d, ne, channel_mask, heads * CHANNELS, MASKED)
            c = _load_corner(value, pixel + width, channel_3d, sw, channel_mask, heads * CHANNELS, MASKED)
            d = _load_corner(value, pixel + width + 1, channel_3d, se, channel_mask, heads * CHANNELS, MASKED)
            upper, lower = weight * (1.0 - y), weight * y
            acc += a * (upper * (1.0 - x))[:, :, None]
            acc += b * (upper * x)[:, :, None]
            acc += c * (lower * (1.0 - x))[:, :, None]
            acc += d * (lower * x)[:, :, None]
    result = tl.sum(acc, axis=1)
    pointers = output + rows * CHANNELS + row[:, None] * CHANNELS + channel[None, :]
    tl.store(pointers, result, mask=(query < queries)[:, None] & (channel < CHANNELS)[None, :])


@triton.jit(do_not_specialize=["queries", "places", "heads"])
def rocm3d_deformable_backward(
    value, shapes, starts, locations, weights, grad_output, grad_value, grad_locations, grad_weights, keys, factors,
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
    batch, head, query = _program_tile(queries, heads, ROWS)
    point, channel = tl.arange(0, POINT_BLOCK), tl.arange(0, CHANNEL_BLOCK)
    inside = (query < queries)[:, None] & (point < POINTS)[None, :]
    channel_3d, channel_mask = channel[None, None, :], (channel < CHANNELS)[None, None, :]
    row = query * heads + head
    first_value = (batch * places * heads + head) * CHANNELS
    value += first_value
    if ADD:
        grad_value += first_value
    rows = batch * queries * heads
    locations, weights = locations + rows * (LEVELS * POINTS * 2), weights + rows * (LEVELS * POINTS)
    grad_locations, grad_weights = (
        grad_locations + rows * (LEVELS * POINTS * 2),
        grad_weights + rows * (LEVELS * POINTS),
    )
    grad_pointers = grad_output + rows * CHANNELS + (row * CHANNELS)[:, None, None] + channel_3d
    grad = tl.load(grad_pointers, mask=(query < queries)[:, None, None] & channel_mask, other=0.0).to(tl.float32)
    for begin in range(0, LEVELS, UNROLL):
        for step in tl.static_range(UNROLL):
            level = begin + step
            height, width, start = _load_level(shapes, starts, level, places, LEVELS)
            sample = row[:, None] * (LEVELS * POINTS) + (level * POINTS + point[None, :])
            mask = inside & (level * POINTS + point < LEVELS * POINTS)[None, :]
            first, x, y, nw, ne, sw, se, weight = _load_samples(locations, weights, sample, mask, height, width)
            pixel = start + first
            a = tl.sum(
                _load_corner(value, pixel, channel_3d, nw, channel_mask, heads * CHANNELS, MASKED) * grad, axis=2
            )
            b = tl.sum(
                _load_corner(value, pixel + 1, channel_3d, ne, channel_mask, heads * CHANNELS, MASKED) * grad, axis=2
            )
            c = tl.sum(
                _load_corner(value, pixel + width, channel_3d, sw, channel_mask, heads * CHANNELS, MASKED) * grad,
                axis=2,
            )
            d = tl.sum(
                _load_corner(value, pixel + width + 1, channel_3d, se, channel_mask, heads * CHANNELS, MASKED) * grad,
                axis=2,
            )
            over, under = a + (b - a) * x, c + (d - c) * x
            tl.store(grad_weights + sample, over + (under - over) * y, mask=mask)
            by_x, by_y = (b - a) + ((d - c) - (b - a)) * y, under - over
            tl.store(grad_locations + 2 * sample, by_x * weight * width, mask=mask)
            tl.store(grad_locations + 2 * sample + 1, by_y * weight * height, mask=mask)
            upper, lower = weight * (1.0 - y), weight * y
            f_nw, f_ne, f_sw, f_se = upper * (1.0 - x), upper * x, lower * (1.0 - x), lower * x
            if ADD:
                pointers = grad_value + (pixel * heads * CHANNELS)[:, :, None] + channel_3d
                right, down = heads * CHANNELS, width * heads * CHANNELS
                tl.atomic_add(pointers, grad * f_nw[:, :, None], mask=nw[:, :, None] & channel_mask, sem="relaxed")
                tl.atomic_add(
                    pointers + right, grad * f_ne[:, :, None], mask=ne[:, :, None] & channel_mask, sem="relaxed"
                )
                tl.atomic_add(
                    pointers + down, grad * f_sw[:, :, None], mask=sw[:, :, None] & channel_mask, sem="relaxed"
                )
                tl.atomic_add(
                    pointers + (down + right),
                    grad * f_se[:, :, None],
                    mask=se[:, :, None] & channel_mask,
                    sem="relaxed",
                )
            else:
                entry = (rows * (LEVELS * POINTS) + sample) * 4
                target = (batch * places + pixel) * heads + head
                none = tl.num_programs(0) // (heads * tl.cdiv(queries, ROWS)) * places.to(tl.int64) * heads
                tl.store(keys + entry, tl.where(nw, target, none), mask=mask)
                tl.store(keys + entry + 1, tl.where(ne, target + heads, none), mask=mask)
                tl.store(keys + entry + 2, tl.where(sw, target + width * heads, none), mask=mask)
                tl.store(keys + entry + 3, tl.where(se, target + (width + 1) * heads, none), mask=mask)
                tl.store(factors + entry, f_nw, mask=mask)
                tl.store(factors + entry + 1, f_ne, mask=mask)
                tl.store(factors + entry + 2, f_sw, mask=mask)
                tl.store(factors + entry + 3, f_se, mask=mask)


@triton.jit(do_not_specialize=["targets"])
def rocm3d_deformable_collect(
    order, factors, begins, grad_output, grad_value, targets,
    SHARE: tl.constexpr, CHANNELS: tl.constexpr, CHANNEL_BLOCK: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """The gradient of the values in a fixed order: each target sums its summands; SHARE summands belong to one row."""
    ROWS: tl.constexpr = max(TILE // CHANNEL_BLOCK, 1)
    target = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    channel = tl.arange(0, CHANNEL_BLOCK)
    target_mask, channel_mask = target < targets, (channel < CHANNELS)[None, :]
    first = tl.load(begins + target, mask=target_mask, other=0)
    count = tl.load(begins + target + 1, mask=target_mask, other=0) - first
    acc = tl.zeros([ROWS, CHANNEL_BLOCK], tl.float32)
    for step in range(tl.max(count, 0)):
        mask = step < count
        entry = tl.load(order + first + step, mask=mask, other=0)
        factor = tl.load(factors + entry, mask=mask, other=0.0)
        pointers = grad_output + (entry // SHARE * CHANNELS)[:, None] + channel[None, :]
        acc += tl.load(pointers, mask=mask[:, None] & channel_mask, other=0.0).to(tl.float32) * factor[:, None]
    tl.store(grad_value + target[:, None] * CHANNELS + channel[None, :], acc, mask=target_mask[:, None] & channel_mask)
