"""Raster kernels: one program per tile, front to back; back to front for the gradients.

records [images * N, 8] float32: mean x and y, conic a, b and c, opacity, depth, compensation.
gaussians [pairs] int32: gid by tile, nearest first; offsets [tiles + 1] int32, with SLOTS the counts [tiles].
out_colors [images, height, width, channels], out_alphas, final_Ts, last_ids [images, height, width].
Exponents are in base two. A lane holds several pixels; the loop over Gaussians is uniform for the program, so a record
is read once for all its pixels. v_x is the gradient of the loss with respect to x.
"""

from __future__ import annotations

import triton
import triton.language as tl

from rocm3d_kernels.image_formation import SMALLEST_ALPHA, SMALLEST_TRANSMITTANCE

# Gradient of a Gaussian: mean x and y, conic a, b and c, opacity; absgrad of the mean; then up to four colours.
SHAPE, ABSOLUTE_SHAPE = 6, 8

_SMALLEST_ALPHA = tl.constexpr(SMALLEST_ALPHA)
_SMALLEST_TRANSMITTANCE = tl.constexpr(SMALLEST_TRANSMITTANCE)
_LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _row_offset(row, STRIDE: tl.constexpr):
    """Offset of a row, in 64 bits."""
    return row.to(tl.int64) * STRIDE


@triton.jit
def _tile_range(offsets, tile, SLOTS: tl.constexpr):
    """First position of a tile's list, and the position after its last."""
    if SLOTS > 0:
        start = tile * SLOTS
        return start, start + tl.minimum(tl.load(offsets + tile), SLOTS)
    else:
        return tl.load(offsets + tile), tl.load(offsets + tile + 1)


@triton.jit
def _alpha(record, x, y, corner_x, corner_y, is_used, CAP: tl.constexpr):
    """Alpha of a Gaussian at the pixels, zero below the smallest alpha, and values for its gradients."""
    dx = (tl.load(record) - corner_x) - x
    dy = (tl.load(record + 1) - corner_y) - y
    a, b, c = tl.load(record + 2), tl.load(record + 3), tl.load(record + 4)
    opacity = tl.load(record + 5)
    power = (-0.5 * _LOG2E) * a * dx * dx - dy * ((_LOG2E * b) * dx + (0.5 * _LOG2E) * c * dy)
    alpha = tl.minimum(tl.where(is_used, opacity, 0.0) * tl.exp2(power), CAP)
    return tl.where(alpha >= _SMALLEST_ALPHA, alpha, 0.0), dx, dy, a, b, c, opacity


@triton.jit(do_not_specialize=["per_image", "color_image", "width", "height", "tiles_x", "tiles_image", "channels"])
def rocm3d_raster_forward(
    records, colors, gaussians, offsets, backgrounds, masks, out_colors, out_alphas, final_Ts, last_ids,
    per_image, color_image, width, height, tiles_x, tiles_image, channels,
    COLOR_ROW: tl.constexpr, D: tl.constexpr, HAS_BACKGROUND: tl.constexpr, HAS_MASKS: tl.constexpr,
    KEEP: tl.constexpr, CAP: tl.constexpr, TILE: tl.constexpr, SLOTS: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """One tile of D colour channels. `per_image` and `color_image` are zero if rows are not grouped by image."""
    tile = tl.program_id(0)
    image = tile // tiles_image
    tile_in_image = tile % tiles_image
    corner_x, corner_y = (tile_in_image % tiles_x) * TILE, (tile_in_image // tiles_x) * TILE
    lane = tl.arange(0, TILE * TILE)
    x, y = (lane % TILE).to(tl.float32) + 0.5, (lane // TILE).to(tl.float32) + 0.5
    column, line = corner_x + lane % TILE, corner_y + lane // TILE
    inside = (column < width) & (line < height)
    left, top = corner_x.to(tl.float32), corner_y.to(tl.float32)
    start, end = _tile_range(offsets, tile, SLOTS)
    if HAS_MASKS:
        end = tl.where(tl.load(masks + tile) != 0, end, start)
    color_base = colors + image.to(tl.int64) * color_image
    first_gid = image * per_image

    # A negative T marks a finished pixel; its absolute value is the final T.
    T = tl.where(inside, 1.0, -1.0)
    last = tl.full((TILE * TILE,), -1, tl.int32)
    c0 = tl.zeros((TILE * TILE,), tl.float32)
    c1, c2, c3 = c0, c0, c0
    active = start < end
    chunk = start
    while active:
        for step in tl.static_range(UNROLL):
            position = tl.minimum(chunk + step, end - 1)
            gid = tl.load(gaussians + position)
            alpha, _dx, _dy, _a, _b, _c, _o = _alpha(
                records + gid.to(tl.int64) * 8, x, y, left, top, chunk + step < end, CAP
            )
            next_T = T - alpha * T
            drawn = next_T > _SMALLEST_TRANSMITTANCE
            weight = tl.where(drawn, alpha * T, 0.0)
            T = tl.where(drawn, next_T, -tl.abs(T))
            last = tl.where(drawn, position - start, last)
            color = color_base + _row_offset(gid - first_gid, COLOR_ROW)
            c0 += weight * tl.load(color)
            if D > 1:
                c1 += weight * tl.load(color + 1)
            if D > 2:
                c2 += weight * tl.load(color + 2)
            if D > 3:
                c3 += weight * tl.load(color + 3)
        chunk += UNROLL
        active = (chunk < end) & (tl.max(T, 0) > 0)

    T = tl.abs(T)
    pixel = (image * height + line).to(tl.int64) * width + column
    if HAS_BACKGROUND:
        background = backgrounds + image * channels
        c0 += T * tl.load(background)
        if D > 1:
            c1 += T * tl.load(background + 1)
        if D > 2:
            c2 += T * tl.load(background + 2)
        if D > 3:
            c3 += T * tl.load(background + 3)
    out_color = out_colors + pixel * channels
    tl.store(out_color, c0, inside)
    if D > 1:
        tl.store(out_color + 1, c1, inside)
    if D > 2:
        tl.store(out_color + 2, c2, inside)
    if D > 3:
        tl.store(out_color + 3, c3, inside)
    tl.store(out_alphas + pixel, 1.0 - T, inside)
    if KEEP:
        # Stored in addition to alpha: for small T, 1 - alpha has lost its digits.
        tl.store(final_Ts + pixel, T, inside)
        tl.store(last_ids + pixel, last.to(last_ids.dtype.element_ty), inside)


@triton.jit(
    do_not_specialize=[
        "rows", "per_image", "color_image", "width", "height", "tiles_x", "tiles_image", "channels",
    ]
)  # fmt: skip
def rocm3d_raster_backward(
    records, colors, gaussians, offsets, backgrounds, final_Ts, last_ids, v_out_colors, v_out_alphas, v_records,
    rows, per_image, color_image, width, height, tiles_x, tiles_image, channels,
    COLOR_ROW: tl.constexpr, D: tl.constexpr, HAS_BACKGROUND: tl.constexpr, HAS_ALPHAS: tl.constexpr,
    ABSOLUTE: tl.constexpr, PER_PAIR: tl.constexpr, CAP: tl.constexpr, TILE: tl.constexpr, SLOTS: tl.constexpr,
):  # fmt: skip
    """Gradients of the Gaussians of one tile: stored in `v_records` by pair, or added to it by Gaussian.

    By Gaussian, the shapes of all `rows` come first, then their colours.
    """
    tile = tl.program_id(0)
    image = tile // tiles_image
    tile_in_image = tile % tiles_image
    corner_x, corner_y = (tile_in_image % tiles_x) * TILE, (tile_in_image // tiles_x) * TILE
    lane = tl.arange(0, TILE * TILE)
    x, y = (lane % TILE).to(tl.float32) + 0.5, (lane // TILE).to(tl.float32) + 0.5
    column, line = corner_x + lane % TILE, corner_y + lane // TILE
    inside = (column < width) & (line < height)
    left, top = corner_x.to(tl.float32), corner_y.to(tl.float32)
    start, _end = _tile_range(offsets, tile, SLOTS)
    color_base = colors + image.to(tl.int64) * color_image
    first_gid = image * per_image

    pixel = (image * height + line).to(tl.int64) * width + column
    last = start + tl.load(last_ids + pixel, inside, other=-1).to(tl.int32)
    T = tl.load(final_Ts + pixel, inside, other=1.0)
    v_pixel = v_out_colors + pixel * channels
    v0 = tl.load(v_pixel, inside, other=0.0)
    v1, v2, v3 = v0, v0, v0
    if D > 1:
        v1 = tl.load(v_pixel + 1, inside, other=0.0)
    if D > 2:
        v2 = tl.load(v_pixel + 2, inside, other=0.0)
    if D > 3:
        v3 = tl.load(v_pixel + 3, inside, other=0.0)
    # Dot product of v_pixel and the colour accumulated behind the current Gaussian.
    behind = tl.zeros((TILE * TILE,), tl.float32)
    if HAS_BACKGROUND:
        background = backgrounds + image * channels
        behind += v0 * tl.load(background)
        if D > 1:
            behind += v1 * tl.load(background + 1)
        if D > 2:
            behind += v2 * tl.load(background + 2)
        if D > 3:
            behind += v3 * tl.load(background + 3)
    if HAS_ALPHAS:
        behind -= tl.load(v_out_alphas + pixel, inside, other=0.0)
    behind = behind * T

    slot = tl.arange(0, 16)
    shape: tl.constexpr = 8 if ABSOLUTE else 6
    # Address of the first Gaussian's gradient, and the stride to the next.
    base_address = v_records + tl.where(slot < shape, slot, slot + (rows.to(tl.int64) - 1) * shape)
    stride = tl.where(slot < shape, shape, D)
    position = tl.max(last, 0)
    while position >= start:
        gid = tl.load(gaussians + position)
        alpha, dx, dy, a, b, c, opacity = _alpha(records + gid.to(tl.int64) * 8, x, y, left, top, True, CAP)
        alpha = tl.where(position <= last, alpha, 0.0)
        ra = 1.0 / (1.0 - alpha)
        T = T * ra
        weight = alpha * T
        color = color_base + _row_offset(gid - first_gid, COLOR_ROW)
        v_weight = v0 * tl.load(color)
        if D > 1:
            v_weight += v1 * tl.load(color + 1)
        if D > 2:
            v_weight += v2 * tl.load(color + 2)
        if D > 3:
            v_weight += v3 * tl.load(color + 3)
        v_alpha = T * v_weight - behind * ra
        behind += weight * v_weight
        # A capped alpha has no gradient; the colour still has one.
        v_log_alpha = tl.where(alpha < CAP, alpha * v_alpha, 0.0)
        moment_x, moment_y = v_log_alpha * dx, v_log_alpha * dy
        sum_x, sum_y = tl.sum(moment_x, 0), tl.sum(moment_y, 0)
        v_record = tl.where(slot == 0, -(a * sum_x + b * sum_y), 0.0)
        v_record = tl.where(slot == 1, -(b * sum_x + c * sum_y), v_record)
        v_record = tl.where(slot == 2, -0.5 * tl.sum(moment_x * dx, 0), v_record)
        v_record = tl.where(slot == 3, -tl.sum(moment_x * dy, 0), v_record)
        v_record = tl.where(slot == 4, -0.5 * tl.sum(moment_y * dy, 0), v_record)
        v_record = tl.where(slot == 5, tl.sum(v_log_alpha, 0) / opacity, v_record)
        if ABSOLUTE:
            v_record = tl.where(slot == 6, tl.sum(tl.abs(a * moment_x + b * moment_y), 0), v_record)
            v_record = tl.where(slot == 7, tl.sum(tl.abs(b * moment_x + c * moment_y), 0), v_record)
        v_record = tl.where(slot == shape, tl.sum(weight * v0, 0), v_record)
        if D > 1:
            v_record = tl.where(slot == shape + 1, tl.sum(weight * v1, 0), v_record)
        if D > 2:
            v_record = tl.where(slot == shape + 2, tl.sum(weight * v2, 0), v_record)
        if D > 3:
            v_record = tl.where(slot == shape + 3, tl.sum(weight * v3, 0), v_record)
        if PER_PAIR:
            tl.store(v_records + _row_offset(position, shape + D) + slot, v_record, slot < shape + D)
        else:
            tl.atomic_add(base_address + gid.to(tl.int64) * stride, v_record, slot < shape + D, sem="relaxed")
        position -= 1


@triton.jit
def rocm3d_sum_pairs(pairs, order, bounds, sums, ROW: tl.constexpr, BLOCK: tl.constexpr):
    """Sums the gradients of one Gaussian over its pairs, in a fixed order."""
    gid = tl.program_id(0).to(tl.int64)
    slot = tl.arange(0, BLOCK)
    keep = slot < ROW
    position, end = tl.load(bounds + gid), tl.load(bounds + gid + 1)
    total = tl.load(sums + gid * ROW + slot, keep, other=0.0)
    while position < end:
        pair = tl.load(order + position).to(tl.int64)
        total += tl.load(pairs + pair * ROW + slot, keep, other=0.0)
        position += 1
    tl.store(sums + gid * ROW + slot, total, keep)
