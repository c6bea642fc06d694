"""Surfel kernels: projection with one lane per surfel; rasterization and its gradients with one program per tile.

records [images, N, 16] float32: three rows of the transform from the disc to the image, mean x and y, opacity, depth,
normal. surfels [pairs] int32: gid by tile, nearest first; offsets [tiles + 1] int32.
Images are [images, height, width, ...]. v_x is the gradient of the loss with respect to x.
"""

from __future__ import annotations

import triton
import triton.language as tl

from rocm3d_kernels.image_formation import EXTENT, LARGEST_ALPHA, SMALLEST_ALPHA, SMALLEST_TRANSMITTANCE

RECORD = 16

_EXTENT = tl.constexpr(EXTENT)
_LARGEST_ALPHA = tl.constexpr(LARGEST_ALPHA)
_SMALLEST_ALPHA = tl.constexpr(SMALLEST_ALPHA)
_SMALLEST_TRANSMITTANCE = tl.constexpr(SMALLEST_TRANSMITTANCE)
# As in the reference: smallest squared half side of a box, 1 / smallest variance in the image.
_SMALLEST_SQUARE = tl.constexpr(1e-4)
_SHARPNESS = tl.constexpr(2.0)
_LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _side(u, v, p, last_u, last_v, last_p, over):
    """Centre of the bounding box along one image axis, and its squared half side."""
    centre = p / last_p
    around_u, around_v = u - centre * last_u, v - centre * last_v
    shift = (around_u * last_u + around_v * last_v) * over
    return centre + shift, shift * shift - (around_u * around_u + around_v * around_v) * over


@triton.jit(do_not_specialize=["count", "cameras", "width", "height"])
def rocm3d_project_surfels(
    means, quats, scales, opacities, viewmats, intrinsics, records, radii,
    count, cameras, width, height, near, far, radius_clip, BLOCK: tl.constexpr,
):  # fmt: skip
    """Records and radii of BLOCK surfels in one image."""
    image = tl.program_id(1)
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = lane < count
    at = (image // cameras).to(tl.int64) * count + lane
    view, k = viewmats + image * 16, intrinsics + image * 9
    r00, r01, r02, m0 = tl.load(view), tl.load(view + 1), tl.load(view + 2), tl.load(view + 3)
    r10, r11, r12, m1 = tl.load(view + 4), tl.load(view + 5), tl.load(view + 6), tl.load(view + 7)
    r20, r21, r22, m2 = tl.load(view + 8), tl.load(view + 9), tl.load(view + 10), tl.load(view + 11)
    fx, cx, fy, cy = tl.load(k), tl.load(k + 2), tl.load(k + 4), tl.load(k + 5)

    px = tl.load(means + at * 3, mask, other=0.0)
    py = tl.load(means + at * 3 + 1, mask, other=0.0)
    pz = tl.load(means + at * 3 + 2, mask, other=0.0)
    x, y = r00 * px + r01 * py + r02 * pz + m0, r10 * px + r11 * py + r12 * pz + m1
    z = r20 * px + r21 * py + r22 * pz + m2
    # x - x == 0 is false for NaN and infinity: such a surfel is invisible.
    opacity = tl.load(opacities + at, mask, other=0.0)
    usable = mask & (z > near) & (z < far) & (x - x == 0.0) & (y - y == 0.0) & (opacity - opacity == 0.0)
    x, y, z = tl.where(usable, x, 1.0), tl.where(usable, y, 1.0), tl.where(usable, z, 1.0)

    w = tl.load(quats + at * 4, mask, other=1.0)
    i = tl.load(quats + at * 4 + 1, mask, other=0.0)
    j = tl.load(quats + at * 4 + 2, mask, other=0.0)
    l = tl.load(quats + at * 4 + 3, mask, other=0.0)  # noqa: E741
    unit = 1.0 / tl.maximum(tl.sqrt(w * w + i * i + j * j + l * l), 1e-12)
    w, i, j, l = w * unit, i * unit, j * unit, l * unit  # noqa: E741
    su, sv = tl.load(scales + at * 3, mask, other=1.0), tl.load(scales + at * 3 + 1, mask, other=1.0)
    u0, u1, u2 = su * (1 - 2 * (j * j + l * l)), su * 2 * (i * j + w * l), su * 2 * (i * l - w * j)
    v0, v1, v2 = sv * 2 * (i * j - w * l), sv * (1 - 2 * (i * i + l * l)), sv * 2 * (j * l + w * i)
    n0, n1, n2 = 2 * (i * l + w * j), 2 * (j * l - w * i), 1 - 2 * (i * i + j * j)
    # World to camera.
    ux, uy, uz = r00 * u0 + r01 * u1 + r02 * u2, r10 * u0 + r11 * u1 + r12 * u2, r20 * u0 + r21 * u1 + r22 * u2
    vx, vy, vz = r00 * v0 + r01 * v1 + r02 * v2, r10 * v0 + r11 * v1 + r12 * v2, r20 * v0 + r21 * v1 + r22 * v2
    nx, ny, nz = r00 * n0 + r01 * n1 + r02 * n2, r10 * n0 + r11 * n1 + r12 * n2, r20 * n0 + r21 * n1 + r22 * n2
    # Camera to image.
    t00, t01, t02 = fx * ux + cx * uz, fx * vx + cx * vz, fx * x + cx * z
    t10, t11, t12 = fy * uy + cy * uz, fy * vy + cy * vz, fy * y + cy * z

    scale = uz * uz + vz * vz - z * z
    over = 1.0 / tl.where(scale == 0.0, 1.0, scale)
    mean_x, square_x = _side(t00, t01, t02, uz, vz, z, over)
    mean_y, square_y = _side(t10, t11, t12, uz, vz, z, over)
    radius_x = tl.ceil(tl.sqrt(tl.maximum(square_x, _SMALLEST_SQUARE)) * _EXTENT)
    radius_y = tl.ceil(tl.sqrt(tl.maximum(square_y, _SMALLEST_SQUARE)) * _EXTENT)
    seen = usable & (scale != 0.0) & (square_x - square_x == 0.0) & (square_y - square_y == 0.0)
    seen = seen & (mean_x + radius_x > 0) & (mean_x - radius_x < width)
    seen = seen & (mean_y + radius_y > 0) & (mean_y - radius_y < height)
    seen = seen & ((radius_x > radius_clip) | (radius_y > radius_clip))
    sign = tl.where(nx * x + ny * y + nz * z < 0, 1.0, -1.0)

    row = image.to(tl.int64) * count + lane
    to = records + row * 16
    tl.store(to, t00, mask)
    tl.store(to + 1, t01, mask)
    tl.store(to + 2, t02, mask)
    tl.store(to + 3, t10, mask)
    tl.store(to + 4, t11, mask)
    tl.store(to + 5, t12, mask)
    tl.store(to + 6, uz, mask)
    tl.store(to + 7, vz, mask)
    tl.store(to + 8, z, mask)
    tl.store(to + 9, mean_x, mask)
    tl.store(to + 10, mean_y, mask)
    tl.store(to + 11, opacity, mask)
    tl.store(to + 12, z, mask)
    tl.store(to + 13, sign * nx, mask)
    tl.store(to + 14, sign * ny, mask)
    tl.store(to + 15, sign * nz, mask)
    # Capped far beyond any image, so that it fits into an integer.
    tl.store(radii + row * 2, tl.where(seen, tl.minimum(radius_x, 1e9), 0.0).to(tl.int32), mask)
    tl.store(radii + row * 2 + 1, tl.where(seen, tl.minimum(radius_y, 1e9), 0.0).to(tl.int32), mask)


@triton.jit
def _hit(at, x, y):
    """Alpha of a surfel at the pixels, zero below the smallest alpha, and values for its gradients."""
    # Two planes that intersect in the ray of the pixel, in disc coordinates; they meet the disc in one point.
    l0, l1, l2 = tl.load(at + 6), tl.load(at + 7), tl.load(at + 8)
    a0, a1, a2 = x * l0 - tl.load(at), x * l1 - tl.load(at + 1), x * l2 - tl.load(at + 2)
    b0, b1, b2 = y * l0 - tl.load(at + 3), y * l1 - tl.load(at + 4), y * l2 - tl.load(at + 5)
    under = a0 * b1 - a1 * b0
    flat = under == 0.0
    over = 1.0 / tl.where(flat, 1.0, under)
    u, v = (a1 * b2 - a2 * b1) * over, (a2 * b0 - a0 * b2) * over
    dx, dy = tl.load(at + 9) - x, tl.load(at + 10) - y
    on_disc, in_image = u * u + v * v, (dx * dx + dy * dy) * _SHARPNESS
    power = tl.minimum(on_disc, in_image) * (-0.5 * _LOG2E)
    alpha = tl.minimum(tl.load(at + 11) * tl.exp2(power), _LARGEST_ALPHA)
    alpha = tl.where(flat | (alpha < _SMALLEST_ALPHA), 0.0, alpha)
    return alpha, on_disc < in_image, u, v, over, dx, dy, a0, a1, a2, b0, b1, b2


@triton.jit(do_not_specialize=["per_image", "color_image", "width", "height", "tiles_x", "tiles_image", "channels"])
def rocm3d_draw_surfels(
    records, colors, surfels, offsets, backgrounds, to_colors, to_alphas, to_normals, to_distortion, to_median,
    to_through, to_last, to_depths, per_image, color_image, width, height, tiles_x, tiles_image, channels,
    COLOR_ROW: tl.constexpr, D: tl.constexpr, HAS_BACKGROUND: tl.constexpr, GEOMETRY: tl.constexpr,
    TILE: tl.constexpr,
):  # fmt: skip
    """One tile of D colour channels; GEOMETRY also writes the other images and the pixel state for backward."""
    tile = tl.program_id(0)
    image = tile // tiles_image
    within = tile % tiles_image
    lane = tl.arange(0, TILE * TILE)
    column, line = (within % tiles_x) * TILE + lane % TILE, (within // tiles_x) * TILE + lane // TILE
    x, y = column.to(tl.float32) + 0.5, line.to(tl.float32) + 0.5
    inside = (column < width) & (line < height)
    at, end = tl.load(offsets + tile), tl.load(offsets + tile + 1)
    color_base = colors + image.to(tl.int64) * color_image
    first = image * per_image

    # A negative T marks a finished pixel; its absolute value is the final T.
    through = tl.where(inside, 1.0, -1.0)
    last = tl.full((TILE * TILE,), -1, tl.int32)
    c0 = tl.zeros((TILE * TILE,), tl.float32)
    c1, c2, c3, n0, n1, n2, distortion, sum_depths, median = c0, c0, c0, c0, c0, c0, c0, c0, c0
    going = at < end
    while going:
        who = tl.load(surfels + at)
        record = records + who.to(tl.int64) * 16
        alpha, _on, _u, _v, _over, _dx, _dy, _a0, _a1, _a2, _b0, _b1, _b2 = _hit(record, x, y)
        after = through - alpha * through
        takes = after > _SMALLEST_TRANSMITTANCE
        weight = tl.where(takes, alpha * through, 0.0)
        if GEOMETRY:
            depth = tl.load(record + 12)
            n0 += weight * tl.load(record + 13)
            n1 += weight * tl.load(record + 14)
            n2 += weight * tl.load(record + 15)
            distortion += 2.0 * weight * (depth * (1.0 - through) - sum_depths)
            sum_depths += weight * depth
            median = tl.where((weight > 0.0) & (through > 0.5), depth, median)
            last = tl.where(takes, at, last)
        through = tl.where(takes, after, -tl.abs(through))
        color = color_base + (who - first).to(tl.int64) * COLOR_ROW
        c0 += weight * tl.load(color)
        if D > 1:
            c1 += weight * tl.load(color + 1)
        if D > 2:
            c2 += weight * tl.load(color + 2)
        if D > 3:
            c3 += weight * tl.load(color + 3)
        at += 1
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
    if GEOMETRY:
        tl.store(to_alphas + pixel, 1.0 - through, inside)
        tl.store(to_normals + pixel * 3, n0, inside)
        tl.store(to_normals + pixel * 3 + 1, n1, inside)
        tl.store(to_normals + pixel * 3 + 2, n2, inside)
        tl.store(to_distortion + pixel, distortion, inside)
        tl.store(to_median + pixel, median, inside)
        # Stored in addition to alpha: for small T, 1 - alpha has lost its digits.
        tl.store(to_through + pixel, through, inside)
        tl.store(to_last + pixel, last, inside)
        tl.store(to_depths + pixel, sum_depths, inside)


@triton.jit(do_not_specialize=["per_image", "color_image", "width", "height", "tiles_x", "tiles_image", "channels"])
def rocm3d_draw_surfels_backward(
    records, colors, surfels, offsets, backgrounds, throughs, lasts, all_depths,
    grad_colors, grad_alphas, grad_normals, grad_distortion, grad_median, to, to_colors,
    per_image, color_image, width, height, tiles_x, tiles_image, channels,
    COLOR_ROW: tl.constexpr, D: tl.constexpr, HAS_BACKGROUND: tl.constexpr, GEOMETRY: tl.constexpr,
    TILE: tl.constexpr,
):  # fmt: skip
    """Gradients of the surfels of one tile, added to `v_records` and `v_colors`."""
    tile = tl.program_id(0)
    image = tile // tiles_image
    within = tile % tiles_image
    lane = tl.arange(0, TILE * TILE)
    column, line = (within % tiles_x) * TILE + lane % TILE, (within // tiles_x) * TILE + lane // TILE
    x, y = column.to(tl.float32) + 0.5, line.to(tl.float32) + 0.5
    inside = (column < width) & (line < height)
    start = tl.load(offsets + tile)
    color_base = colors + image.to(tl.int64) * color_image
    first = image * per_image

    pixel = (image * height + line).to(tl.int64) * width + column
    last = tl.load(lasts + pixel, inside, other=-1)
    through = tl.load(throughs + pixel, inside, other=1.0)
    none = tl.zeros((TILE * TILE,), tl.float32)
    v0 = tl.load(grad_colors + pixel * channels, inside, other=0.0)
    v1, v2, v3, gn0, gn1, gn2, spread, middle = none, none, none, none, none, none, none, none
    if D > 1:
        v1 = tl.load(grad_colors + pixel * channels + 1, inside, other=0.0)
    if D > 2:
        v2 = tl.load(grad_colors + pixel * channels + 2, inside, other=0.0)
    if D > 3:
        v3 = tl.load(grad_colors + pixel * channels + 3, inside, other=0.0)
    # Dot product of the pixel gradient and the colour accumulated behind the current surfel.
    behind = none
    if HAS_BACKGROUND:
        back = backgrounds + image * channels
        behind += v0 * tl.load(back)
        if D > 1:
            behind += v1 * tl.load(back + 1)
        if D > 2:
            behind += v2 * tl.load(back + 2)
        if D > 3:
            behind += v3 * tl.load(back + 3)
    depths, total = none, none
    all_alpha = 1.0 - through
    if GEOMETRY:
        behind -= tl.load(grad_alphas + pixel, inside, other=0.0)
        gn0 = tl.load(grad_normals + pixel * 3, inside, other=0.0)
        gn1 = tl.load(grad_normals + pixel * 3 + 1, inside, other=0.0)
        gn2 = tl.load(grad_normals + pixel * 3 + 2, inside, other=0.0)
        spread = 2.0 * tl.load(grad_distortion + pixel, inside, other=0.0)
        middle = tl.load(grad_median + pixel, inside, other=0.0)
        total = tl.load(all_depths + pixel, inside, other=0.0)
        depths = total
    behind = behind * through

    slot, channel = tl.arange(0, 16), tl.arange(0, 4)
    here = tl.max(last, 0)
    while here >= start:
        who = tl.load(surfels + here)
        record = records + who.to(tl.int64) * 16
        alpha, on, u, v, over, dx, dy, a0, a1, a2, b0, b1, b2 = _hit(record, x, y)
        alpha = tl.where(here <= last, alpha, 0.0)
        if tl.max(alpha, 0) > 0.0:
            lost = 1.0 / (1.0 - alpha)
            through = through * lost
            weight = alpha * through
            color = color_base + (who - first).to(tl.int64) * COLOR_ROW
            shine = v0 * tl.load(color)
            if D > 1:
                shine += v1 * tl.load(color + 1)
            if D > 2:
                shine += v2 * tl.load(color + 2)
            if D > 3:
                shine += v3 * tl.load(color + 3)
            of_depth = none
            if GEOMETRY:
                depth = tl.load(record + 12)
                shine += gn0 * tl.load(record + 13) + gn1 * tl.load(record + 14) + gn2 * tl.load(record + 15)
                depths -= weight * depth
                nearer = 1.0 - through
                shine += spread * (2.0 * (depth * nearer - depths) + total - depth * all_alpha)
                of_depth = spread * weight * (2.0 * nearer + weight - all_alpha)
                # Back to front, the first surfel with T > 0.5 is the one whose depth is the median.
                at_half = (alpha > 0.0) & (through > 0.5)
                of_depth += tl.where(at_half, middle, 0.0)
                middle = tl.where(at_half, 0.0, middle)
            slope = through * shine - behind * lost
            behind += weight * shine
            # A capped alpha has no gradient; colours, normals and depths still have one.
            pull = tl.where(alpha < _LARGEST_ALPHA, alpha * slope, 0.0)
            # Through the point on the disc or, if that is farther, through the distance in the image.
            disc = tl.where(on, pull * over, 0.0)
            h0, h1, h2 = -disc * u, -disc * v, disc * (u * u + v * v)
            ga0, ga1, ga2 = b1 * h2 - b2 * h1, b2 * h0 - b0 * h2, b0 * h1 - b1 * h0
            gb0, gb1, gb2 = h1 * a2 - h2 * a1, h2 * a0 - h0 * a2, h0 * a1 - h1 * a0
            flat = tl.where(on, 0.0, pull) * -_SHARPNESS
            found = tl.where(slot == 0, -tl.sum(ga0, 0), 0.0)
            found = tl.where(slot == 1, -tl.sum(ga1, 0), found)
            found = tl.where(slot == 2, -tl.sum(ga2, 0), found)
            found = tl.where(slot == 3, -tl.sum(gb0, 0), found)
            found = tl.where(slot == 4, -tl.sum(gb1, 0), found)
            found = tl.where(slot == 5, -tl.sum(gb2, 0), found)
            found = tl.where(slot == 6, tl.sum(x * ga0 + y * gb0, 0), found)
            found = tl.where(slot == 7, tl.sum(x * ga1 + y * gb1, 0), found)
            found = tl.where(slot == 8, tl.sum(x * ga2 + y * gb2, 0), found)
            found = tl.where(slot == 9, tl.sum(flat * dx, 0), found)
            found = tl.where(slot == 10, tl.sum(flat * dy, 0), found)
            found = tl.where(slot == 11, tl.sum(pull, 0) / tl.load(record + 11), found)
            if GEOMETRY:
                found = tl.where(slot == 12, tl.sum(of_depth, 0), found)
                found = tl.where(slot == 13, tl.sum(weight * gn0, 0), found)
                found = tl.where(slot == 14, tl.sum(weight * gn1, 0), found)
                found = tl.where(slot == 15, tl.sum(weight * gn2, 0), found)
            tl.atomic_add(to + who.to(tl.int64) * 16 + slot, found, sem="relaxed")
            shown = tl.where(channel == 0, tl.sum(weight * v0, 0), 0.0)
            if D > 1:
                shown = tl.where(channel == 1, tl.sum(weight * v1, 0), shown)
            if D > 2:
                shown = tl.where(channel == 2, tl.sum(weight * v2, 0), shown)
            if D > 3:
                shown = tl.where(channel == 3, tl.sum(weight * v3, 0), shown)
            place = to_colors + who.to(tl.int64) * channels + channel
            tl.atomic_add(place, shown, channel < D, sem="relaxed")
        here -= 1
