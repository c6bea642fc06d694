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
def _far(row, STEP: tl.constexpr):
    """Offset of a row, in 64 bits."""
    return row.to(tl.int64) * STEP


@triton.jit
def _list(offsets, tile, SLOTS: tl.constexpr):
    """First position of a tile's list, and the position after its last."""
    if SLOTS > 0:
        start = tile * SLOTS
        return start, start + tl.minimum(tl.load(offsets + tile), SLOTS)
    else:
        return tl.load(offsets + tile), tl.load(offsets + tile + 1)


@triton.jit
def _alpha(at, x, y, corner_x, corner_y, counts, CAP: tl.constexpr):
    """Alpha of a Gaussian at the pixels, zero below the smallest alpha, and values for its gradients."""
    dx = (tl.load(at) - corner_x) - x
    dy = (tl.load(at + 1) - corner_y) - y
    a, b, c = tl.load(at + 2), tl.load(at + 3), tl.load(at + 4)
    opacity = tl.load(at + 5)
    power = (-0.5 * _LOG2E) * a * dx * dx - dy * ((_LOG2E * b) * dx + (0.5 * _LOG2E) * c * dy)
    alpha = tl.minimum(tl.where(counts, opacity, 0.0) * tl.exp2(power), CAP)
    return tl.where(alpha >= _SMALLEST_ALPHA, alpha, 0.0), dx, dy, a, b, c, opacity


@triton.jit(do_not_specialize=["per_image", "color_image", "width", "height", "tiles_x", "tiles_image", "channels"])
def rocm3d_raster_forward(
    records, colors, gaussians, offsets, backgrounds, masks, to_colors, to_alphas, to_through, to_last,
    per_image, color_image, width, height, tiles_x, tiles_image, channels,
    COLOR_ROW: tl.constexpr, D: tl.constexpr, HAS_BACKGROUND: tl.constexpr, HAS_MASKS: tl.constexpr,
    KEEP: tl.constexpr, CAP: tl.constexpr, TILE: tl.constexpr, SLOTS: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """One tile of D colour channels. `per_image` and `color_image` are zero if rows are not grouped by image."""
    tile = tl.program_id(0)
    image = tile // tiles_image
    within = tile % tiles_image
    corner_x, corner_y = (within % tiles_x) * TILE, (within // tiles_x) * TILE
    lane = tl.arange(0, TILE * TILE)
    x, y = (lane % TILE).to(tl.float32) + 0.5, (lane // TILE).to(tl.float32) + 0.5
    column, line = corner_x + lane % TILE, corner_y + lane // TILE
    inside = (column < width) & (line < height)
    left, top = corner_x.to(tl.float32), corner_y.to(tl.float32)
    start, end = _list(offsets, tile, SLOTS)
    if HAS_MASKS:
        end = tl.where(tl.load(masks + tile) != 0, end, start)
    color_base = colors + image.to(tl.int64) * color_image
    first = image * per_image

    # A negative T marks a finished pixel; its absolute value is the final T.
    through = tl.where(inside, 1.0, -1.0)
    last = tl.full((TILE * TILE,), -1, tl.int32)
    c0 = tl.zeros((TILE * TILE,), tl.float32)
    c1, c2, c3 = c0, c0, c0
    going = start < end
    at = start
    while going:
        for step in tl.static_range(UNROLL):
            here = tl.minimum(at + step, end - 1)
            who = tl.load(gaussians + here)
            alpha, _dx, _dy, _a, _b, _c, _o = _alpha(
                records + who.to(tl.int64) * 8, x, y, left, top, at + step < end, CAP
            )
            after = through - alpha * through
            takes = after > _SMALLEST_TRANSMITTANCE
            weight = tl.where(takes, alpha * through, 0.0)
            through = tl.where(takes, after, -tl.abs(through))
            last = tl.where(takes, here - start, last)
            color = color_base + _far(who - first, COLOR_ROW)
            c0 += weight * tl.load(color)
            if D > 1:
                c1 += weight * tl.load(color + 1)
            if D > 2:
                c2 += weight * tl.load(color + 2)
            if D > 3:
                c3 += weight * tl.load(color + 3)
        at += UNROLL
        going = (at < end) & (tl.max(through, 0) > 0)

    through = tl.abs(through)
    pixel = (image * height + line).to(tl.int64) * width + column
    if HAS_BACKGROUND:
        back = backgrounds + image * channels
        c0 += through * tl.load(back)
        if D > 1:
            c1 += through * tl.load(back + 1)
        if D > 2:
            c2 += through * tl.load(back + 2)
        if D > 3:
            c3 += through * tl.load(back + 3)
    to = to_colors + pixel * channels
    tl.store(to, c0, inside)
    if D > 1:
        tl.store(to + 1, c1, inside)
    if D > 2:
        tl.store(to + 2, c2, inside)
    if D > 3:
        tl.store(to + 3, c3, inside)
    tl.store(to_alphas + pixel, 1.0 - through, inside)
    if KEEP:
        # Stored in addition to alpha: for small T, 1 - alpha has lost its digits.
        tl.store(to_through + pixel, through, inside)
        tl.store(to_last + pixel, last.to(to_last.dtype.element_ty), inside)


@triton.jit(
    do_not_specialize=[
        "rows", "per_image", "color_image", "width", "height", "tiles_x", "tiles_image", "channels",
    ]
)  # fmt: skip
def rocm3d_raster_backward(
    records, colors, gaussians, offsets, backgrounds, throughs, lasts, grad_colors, grad_alphas, to,
    rows, per_image, color_image, width, height, tiles_x, tiles_image, channels,
    COLOR_ROW: tl.constexpr, D: tl.constexpr, HAS_BACKGROUND: tl.constexpr, HAS_ALPHAS: tl.constexpr,
    ABSOLUTE: tl.constexpr, PER_PAIR: tl.constexpr, CAP: tl.constexpr, TILE: tl.constexpr, SLOTS: tl.constexpr,
):  # fmt: skip
    """Gradients of the Gaussians of one tile: stored in `v_records` by pair, or added to it by Gaussian.

    By Gaussian, the shapes of all `rows` come first, then their colours.
    """
    tile = tl.program_id(0)
    image = tile // tiles_image
    within = tile % tiles_image
    corner_x, corner_y = (within % tiles_x) * TILE, (within // tiles_x) * TILE
    lane = tl.arange(0, TILE * TILE)
    x, y = (lane % TILE).to(tl.float32) + 0.5, (lane // TILE).to(tl.float32) + 0.5
    column, line = corner_x + lane % TILE, corner_y + lane // TILE
    inside = (column < width) & (line < height)
    left, top = corner_x.to(tl.float32), corner_y.to(tl.float32)
    start, _end = _list(offsets, tile, SLOTS)
    color_base = colors + image.to(tl.int64) * color_image
    first = image * per_image

    pixel = (image * height + line).to(tl.int64) * width + column
    last = start + tl.load(lasts + pixel, inside, other=-1).to(tl.int32)
    through = tl.load(throughs + pixel, inside, other=1.0)
    given = grad_colors + pixel * channels
    v0 = tl.load(given, inside, other=0.0)
    v1, v2, v3 = v0, v0, v0
    if D > 1:
        v1 = tl.load(given + 1, inside, other=0.0)
    if D > 2:
        v2 = tl.load(given + 2, inside, other=0.0)
    if D > 3:
        v3 = tl.load(given + 3, inside, other=0.0)
    # Dot product of v_pixel and the colour accumulated behind the current Gaussian.
    behind = tl.zeros((TILE * TILE,), tl.float32)
    if HAS_BACKGROUND:
        back = backgrounds + image * channels
        behind += v0 * tl.load(back)
        if D > 1:
            behind += v1 * tl.load(back + 1)
        if D > 2:
            behind += v2 * tl.load(back + 2)
        if D > 3:
            behind += v3 * tl.load(back + 3)
    if HAS_ALPHAS:
        behind -= tl.load(grad_alphas + pixel, inside, other=0.0)
    behind = behind * through

    slot = tl.arange(0, 16)
    shape: tl.constexpr = 8 if ABSOLUTE else 6
    # Address of the first Gaussian's gradient, and the stride to the next.
    first_of = to + tl.where(slot < shape, slot, slot + (rows.to(tl.int64) - 1) * shape)
    step_of = tl.where(slot < shape, shape, D)
    here = tl.max(last, 0)
    while here >= start:
        who = tl.load(gaussians + here)
        alpha, dx, dy, a, b, c, opacity = _alpha(records + who.to(tl.int64) * 8, x, y, left, top, True, CAP)
        alpha = tl.where(here <= last, alpha, 0.0)
        over = 1.0 / (1.0 - alpha)
        through = through * over
        weight = alpha * through
        color = color_base + _far(who - first, COLOR_ROW)
        shine = v0 * tl.load(color)
        if D > 1:
            shine += v1 * tl.load(color + 1)
        if D > 2:
            shine += v2 * tl.load(color + 2)
        if D > 3:
            shine += v3 * tl.load(color + 3)
        slope = through * shine - behind * over
        behind += weight * shine
        # A capped alpha has no gradient; the colour still has one.
        pull = tl.where(alpha < CAP, alpha * slope, 0.0)
        pull_x, pull_y = pull * dx, pull * dy
        sum_x, sum_y = tl.sum(pull_x, 0), tl.sum(pull_y, 0)
        found = tl.where(slot == 0, -(a * sum_x + b * sum_y), 0.0)
        found = tl.where(slot == 1, -(b * sum_x + c * sum_y), found)
        found = tl.where(slot == 2, -0.5 * tl.sum(pull_x * dx, 0), found)
        found = tl.where(slot == 3, -tl.sum(pull_x * dy, 0), found)
        found = tl.where(slot == 4, -0.5 * tl.sum(pull_y * dy, 0), found)
        found = tl.where(slot == 5, tl.sum(pull, 0) / opacity, found)
        if ABSOLUTE:
            found = tl.where(slot == 6, tl.sum(tl.abs(a * pull_x + b * pull_y), 0), found)
            found = tl.where(slot == 7, tl.sum(tl.abs(b * pull_x + c * pull_y), 0), found)
        found = tl.where(slot == shape, tl.sum(weight * v0, 0), found)
        if D > 1:
            found = tl.where(slot == shape + 1, tl.sum(weight * v1, 0), found)
        if D > 2:
            found = tl.where(slot == shape + 2, tl.sum(weight * v2, 0), found)
        if D > 3:
            found = tl.where(slot == shape + 3, tl.sum(weight * v3, 0), found)
        if PER_PAIR:
            tl.store(to + _far(here, shape + D) + slot, found, slot < shape + D)
        else:
            tl.atomic_add(first_of + who.to(tl.int64) * step_of, found, slot < shape + D, sem="relaxed")
        here -= 1


@triton.jit
def rocm3d_sum_pairs(pairs, order, bounds, to, ROW: tl.constexpr, BLOCK: tl.constexpr):
    """Sums the gradients of one Gaussian over its pairs, in a fixed order."""
    who = tl.program_id(0).to(tl.int64)
    slot = tl.arange(0, BLOCK)
    keep = slot < ROW
    at, end = tl.load(bounds + who), tl.load(bounds + who + 1)
    total = tl.load(to + who * ROW + slot, keep, other=0.0)
    while at < end:
        pair = tl.load(order + at).to(tl.int64)
        total += tl.load(pairs + pair * ROW + slot, keep, other=0.0)
        at += 1
    tl.store(to + who * ROW + slot, total, keep)
