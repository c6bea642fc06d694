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
def _box_side(u, v, p, last_u, last_v, last_p, inv_scale):
    """Centre of the bounding box along one image axis, and its squared half side."""
    centre = p / last_p
    around_u, around_v = u - centre * last_u, v - centre * last_v
    shift = (around_u * last_u + around_v * last_v) * inv_scale
    return centre + shift, shift * shift - (around_u * around_u + around_v * around_v) * inv_scale


@triton.jit(do_not_specialize=["count", "cameras", "width", "height"])
def rocm3d_project_surfels(
    means, quats, scales, opacities, viewmats, intrinsics, records, radii,
    count, cameras, width, height, near, far, radius_clip, BLOCK: tl.constexpr,
):  # fmt: skip
    """Records and radii of BLOCK surfels in one image."""
    image = tl.program_id(1)
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = lane < count
    gid = (image // cameras).to(tl.int64) * count + lane
    view, k = viewmats + image * 16, intrinsics + image * 9
    r00, r01, r02, m0 = tl.load(view), tl.load(view + 1), tl.load(view + 2), tl.load(view + 3)
    r10, r11, r12, m1 = tl.load(view + 4), tl.load(view + 5), tl.load(view + 6), tl.load(view + 7)
    r20, r21, r22, m2 = tl.load(view + 8), tl.load(view + 9), tl.load(view + 10), tl.load(view + 11)
    fx, cx, fy, cy = tl.load(k), tl.load(k + 2), tl.load(k + 4), tl.load(k + 5)

    px = tl.load(means + gid * 3, mask, other=0.0)
    py = tl.load(means + gid * 3 + 1, mask, other=0.0)
    pz = tl.load(means + gid * 3 + 2, mask, other=0.0)
    x, y = r00 * px + r01 * py + r02 * pz + m0, r10 * px + r11 * py + r12 * pz + m1
    z = r20 * px + r21 * py + r22 * pz + m2
    # x - x == 0 is false for NaN and infinity: such a surfel is invisible.
    opacity = tl.load(opacities + gid, mask, other=0.0)
    usable = mask & (z > near) & (z < far) & (x - x == 0.0) & (y - y == 0.0) & (opacity - opacity == 0.0)
    x, y, z = tl.where(usable, x, 1.0), tl.where(usable, y, 1.0), tl.where(usable, z, 1.0)

    w = tl.load(quats + gid * 4, mask, other=1.0)
    i = tl.load(quats + gid * 4 + 1, mask, other=0.0)
    j = tl.load(quats + gid * 4 + 2, mask, other=0.0)
    l = tl.load(quats + gid * 4 + 3, mask, other=0.0)  # noqa: E741
    unit = 1.0 / tl.maximum(tl.sqrt(w * w + i * i + j * j + l * l), 1e-12)
    w, i, j, l = w * unit, i * unit, j * unit, l * unit  # noqa: E741
    su, sv = tl.load(scales + gid * 3, mask, other=1.0), tl.load(scales + gid * 3 + 1, mask, other=1.0)
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
    inv_scale = 1.0 / tl.where(scale == 0.0, 1.0, scale)
    mean_x, square_x = _box_side(t00, t01, t02, uz, vz, z, inv_scale)
    mean_y, square_y = _box_side(t10, t11, t12, uz, vz, z, inv_scale)
    radius_x = tl.ceil(tl.sqrt(tl.maximum(square_x, _SMALLEST_SQUARE)) * _EXTENT)
    radius_y = tl.ceil(tl.sqrt(tl.maximum(square_y, _SMALLEST_SQUARE)) * _EXTENT)
    visible = usable & (scale != 0.0) & (square_x - square_x == 0.0) & (square_y - square_y == 0.0)
    visible = visible & (mean_x + radius_x > 0) & (mean_x - radius_x < width)
    visible = visible & (mean_y + radius_y > 0) & (mean_y - radius_y < height)
    visible = visible & ((radius_x > radius_clip) | (radius_y > radius_clip))
    sign = tl.where(nx * x + ny * y + nz * z < 0, 1.0, -1.0)

    row = image.to(tl.int64) * count + lane
    record = records + row * 16
    tl.store(record, t00, mask)
    tl.store(record + 1, t01, mask)
    tl.store(record + 2, t02, mask)
    tl.store(record + 3, t10, mask)
    tl.store(record + 4, t11, mask)
    tl.store(record + 5, t12, mask)
    tl.store(record + 6, uz, mask)
    tl.store(record + 7, vz, mask)
    tl.store(record + 8, z, mask)
    tl.store(record + 9, mean_x, mask)
    tl.store(record + 10, mean_y, mask)
    tl.store(record + 11, opacity, mask)
    tl.store(record + 12, z, mask)
    tl.store(record + 13, sign * nx, mask)
    tl.store(record + 14, sign * ny, mask)
    tl.store(record + 15, sign * nz, mask)
    # Capped far beyond any image, so that it fits into an integer.
    tl.store(radii + row * 2, tl.where(visible, tl.minimum(radius_x, 1e9), 0.0).to(tl.int32), mask)
    tl.store(radii + row * 2 + 1, tl.where(visible, tl.minimum(radius_y, 1e9), 0.0).to(tl.int32), mask)


@triton.jit
def _ray_alpha(record, x, y):
    """Alpha of a surfel at the pixels, zero below the smallest alpha, and values for its gradients."""
    # Two planes that intersect in the ray of the pixel, in disc coordinates; they meet the disc in one point.
    l0, l1, l2 = tl.load(record + 6), tl.load(record + 7), tl.load(record + 8)
    a0, a1, a2 = x * l0 - tl.load(record), x * l1 - tl.load(record + 1), x * l2 - tl.load(record + 2)
    b0, b1, b2 = y * l0 - tl.load(record + 3), y * l1 - tl.load(record + 4), y * l2 - tl.load(record + 5)
    h3 = a0 * b1 - a1 * b0
    is_parallel = h3 == 0.0
    inv_h3 = 1.0 / tl.where(is_parallel, 1.0, h3)
    u, v = (a1 * b2 - a2 * b1) * inv_h3, (a2 * b0 - a0 * b2) * inv_h3
    dx, dy = tl.load(record + 9) - x, tl.load(record + 10) - y
    on_disc, in_image = u * u + v * v, (dx * dx + dy * dy) * _SHARPNESS
    power = tl.minimum(on_disc, in_image) * (-0.5 * _LOG2E)
    alpha = tl.minimum(tl.load(record + 11) * tl.exp2(power), _LARGEST_ALPHA)
    alpha = tl.where(is_parallel | (alpha < _SMALLEST_ALPHA), 0.0, alpha)
    return alpha, on_disc < in_image, u, v, inv_h3, dx, dy, a0, a1, a2, b0, b1, b2


@triton.jit(do_not_specialize=["per_image", "color_image", "width", "height", "tiles_x", "tiles_image", "channels"])
def rocm3d_draw_surfels(
    records, colors, surfels, offsets, backgrounds, out_colors, out_alphas, out_normals, out_distortion, out_median,
    final_Ts, last_ids, depth_sums, per_image, color_image, width, height, tiles_x, tiles_image, channels,
    COLOR_ROW: tl.constexpr, D: tl.constexpr, HAS_BACKGROUND: tl.constexpr, GEOMETRY: tl.constexpr,
    TILE: tl.constexpr,
):  # fmt: skip
    """One tile of D colour channels; GEOMETRY also writes the other images and the pixel state for backward."""
    tile = tl.program_id(0)
    image = tile // tiles_image
    tile_in_image = tile % tiles_image
    lane = tl.arange(0, TILE * TILE)
    column, line = (tile_in_image % tiles_x) * TILE + lane % TILE, (tile_in_image // tiles_x) * TILE + lane // TILE
    x, y = column.to(tl.float32) + 0.5, line.to(tl.float32) + 0.5
    inside = (column < width) & (line < height)
    position, end = tl.load(offsets + tile), tl.load(offsets + tile + 1)
    color_base = colors + image.to(tl.int64) * color_image
    first_gid = image * per_image

    # A negative T marks a finished pixel; its absolute value is the final T.
    T = tl.where(inside, 1.0, -1.0)
    last = tl.full((TILE * TILE,), -1, tl.int32)
    c0 = tl.zeros((TILE * TILE,), tl.float32)
    c1, c2, c3, n0, n1, n2, distortion, depth_sum, median = c0, c0, c0, c0, c0, c0, c0, c0, c0
    active = position < end
    while active:
        gid = tl.load(surfels + position)
        record = records + gid.to(tl.int64) * 16
        alpha, _on, _u, _v, _over, _dx, _dy, _a0, _a1, _a2, _b0, _b1, _b2 = _ray_alpha(record, x, y)
        next_T = T - alpha * T
        drawn = next_T > _SMALLEST_TRANSMITTANCE
        weight = tl.where(drawn, alpha * T, 0.0)
        if GEOMETRY:
            depth = tl.load(record + 12)
            n0 += weight * tl.load(record + 13)
            n1 += weight * tl.load(record + 14)
            n2 += weight * tl.load(record + 15)
            distortion += 2.0 * weight * (depth * (1.0 - T) - depth_sum)
            depth_sum += weight * depth
            median = tl.where((weight > 0.0) & (T > 0.5), depth, median)
            last = tl.where(drawn, position, last)
        T = tl.where(drawn, next_T, -tl.abs(T))
        color = color_base + (gid - first_gid).to(tl.int64) * COLOR_ROW
        c0 += weight * tl.load(color)
        if D > 1:
            c1 += weight * tl.load(color + 1)
        if D > 2:
            c2 += weight * tl.load(color + 2)
        if D > 3:
            c3 += weight * tl.load(color + 3)
        position += 1
        active = (position < end) & (tl.max(T, 0) > 0)

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
    if GEOMETRY:
        tl.store(out_alphas + pixel, 1.0 - T, inside)
        tl.store(out_normals + pixel * 3, n0, inside)
        tl.store(out_normals + pixel * 3 + 1, n1, inside)
        tl.store(out_normals + pixel * 3 + 2, n2, inside)
        tl.store(out_distortion + pixel, distortion, inside)
        tl.store(out_median + pixel, median, inside)
        # Stored in addition to alpha: for small T, 1 - alpha has lost its digits.
        tl.store(final_Ts + pixel, T, inside)
        tl.store(last_ids + pixel, last, inside)
        tl.store(depth_sums + pixel, depth_sum, inside)


@triton.jit(do_not_specialize=["per_image", "color_image", "width", "height", "tiles_x", "tiles_image", "channels"])
def rocm3d_draw_surfels_backward(
    records, colors, surfels, offsets, backgrounds, final_Ts, last_ids, depth_sums,
    v_out_colors, v_out_alphas, v_out_normals, v_out_distortion, v_out_median, v_records, v_colors,
    per_image, color_image, width, height, tiles_x, tiles_image, channels,
    COLOR_ROW: tl.constexpr, D: tl.constexpr, HAS_BACKGROUND: tl.constexpr, GEOMETRY: tl.constexpr,
    TILE: tl.constexpr,
):  # fmt: skip
    """Gradients of the surfels of one tile, added to `v_records` and `v_colors`."""
    tile = tl.program_id(0)
    image = tile // tiles_image
    tile_in_image = tile % tiles_image
    lane = tl.arange(0, TILE * TILE)
    column, line = (tile_in_image % tiles_x) * TILE + lane % TILE, (tile_in_image // tiles_x) * TILE + lane // TILE
    x, y = column.to(tl.float32) + 0.5, line.to(tl.float32) + 0.5
    inside = (column < width) & (line < height)
    start = tl.load(offsets + tile)
    color_base = colors + image.to(tl.int64) * color_image
    first_gid = image * per_image

    pixel = (image * height + line).to(tl.int64) * width + column
    last = tl.load(last_ids + pixel, inside, other=-1)
    T = tl.load(final_Ts + pixel, inside, other=1.0)
    zeros = tl.zeros((TILE * TILE,), tl.float32)
    v0 = tl.load(v_out_colors + pixel * channels, inside, other=0.0)
    v1, v2, v3, v_n0, v_n1, v_n2, v_distortion, v_median = zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros
    if D > 1:
        v1 = tl.load(v_out_colors + pixel * channels + 1, inside, other=0.0)
    if D > 2:
        v2 = tl.load(v_out_colors + pixel * channels + 2, inside, other=0.0)
    if D > 3:
        v3 = tl.load(v_out_colors + pixel * channels + 3, inside, other=0.0)
    # Dot product of the pixel gradient and the colour accumulated behind the current surfel.
    behind = zeros
    if HAS_BACKGROUND:
        background = backgrounds + image * channels
        behind += v0 * tl.load(background)
        if D > 1:
            behind += v1 * tl.load(background + 1)
        if D > 2:
            behind += v2 * tl.load(background + 2)
        if D > 3:
            behind += v3 * tl.load(background + 3)
    depth_sum, total_depth = zeros, zeros
    total_alpha = 1.0 - T
    if GEOMETRY:
        behind -= tl.load(v_out_alphas + pixel, inside, other=0.0)
        v_n0 = tl.load(v_out_normals + pixel * 3, inside, other=0.0)
        v_n1 = tl.load(v_out_normals + pixel * 3 + 1, inside, other=0.0)
        v_n2 = tl.load(v_out_normals + pixel * 3 + 2, inside, other=0.0)
        v_distortion = 2.0 * tl.load(v_out_distortion + pixel, inside, other=0.0)
        v_median = tl.load(v_out_median + pixel, inside, other=0.0)
        total_depth = tl.load(depth_sums + pixel, inside, other=0.0)
        depth_sum = total_depth
    behind = behind * T

    slot, channel = tl.arange(0, 16), tl.arange(0, 4)
    position = tl.max(last, 0)
    while position >= start:
        gid = tl.load(surfels + position)
        record = records + gid.to(tl.int64) * 16
        alpha, on_disc, u, v, inv_h3, dx, dy, a0, a1, a2, b0, b1, b2 = _ray_alpha(record, x, y)
        alpha = tl.where(position <= last, alpha, 0.0)
        if tl.max(alpha, 0) > 0.0:
            ra = 1.0 / (1.0 - alpha)
            T = T * ra
            weight = alpha * T
            color = color_base + (gid - first_gid).to(tl.int64) * COLOR_ROW
            v_weight = v0 * tl.load(color)
            if D > 1:
                v_weight += v1 * tl.load(color + 1)
            if D > 2:
                v_weight += v2 * tl.load(color + 2)
            if D > 3:
                v_weight += v3 * tl.load(color + 3)
            v_depth = zeros
            if GEOMETRY:
                depth = tl.load(record + 12)
                v_weight += v_n0 * tl.load(record + 13) + v_n1 * tl.load(record + 14) + v_n2 * tl.load(record + 15)
                depth_sum -= weight * depth
                alpha_before = 1.0 - T
                v_weight += v_distortion * (
                    2.0 * (depth * alpha_before - depth_sum) + total_depth - depth * total_alpha
                )
                v_depth = v_distortion * weight * (2.0 * alpha_before + weight - total_alpha)
                # Back to front, the first surfel with T > 0.5 is the one whose depth is the median.
                at_half = (alpha > 0.0) & (T > 0.5)
                v_depth += tl.where(at_half, v_median, 0.0)
                v_median = tl.where(at_half, 0.0, v_median)
            v_alpha = T * v_weight - behind * ra
            behind += weight * v_weight
            # A capped alpha has no gradient; colours, normals and depths still have one.
            v_log_alpha = tl.where(alpha < _LARGEST_ALPHA, alpha * v_alpha, 0.0)
            # Through the point on the disc or, if that is farther, through the distance in the image.
            v_disc = tl.where(on_disc, v_log_alpha * inv_h3, 0.0)
            h0, h1, h2 = -v_disc * u, -v_disc * v, v_disc * (u * u + v * v)
            ga0, ga1, ga2 = b1 * h2 - b2 * h1, b2 * h0 - b0 * h2, b0 * h1 - b1 * h0
            gb0, gb1, gb2 = h1 * a2 - h2 * a1, h2 * a0 - h0 * a2, h0 * a1 - h1 * a0
            v_distance = tl.where(on_disc, 0.0, v_log_alpha) * -_SHARPNESS
            v_record = tl.where(slot == 0, -tl.sum(ga0, 0), 0.0)
            v_record = tl.where(slot == 1, -tl.sum(ga1, 0), v_record)
            v_record = tl.where(slot == 2, -tl.sum(ga2, 0), v_record)
            v_record = tl.where(slot == 3, -tl.sum(gb0, 0), v_record)
            v_record = tl.where(slot == 4, -tl.sum(gb1, 0), v_record)
            v_record = tl.where(slot == 5, -tl.sum(gb2, 0), v_record)
            v_record = tl.where(slot == 6, tl.sum(x * ga0 + y * gb0, 0), v_record)
            v_record = tl.where(slot == 7, tl.sum(x * ga1 + y * gb1, 0), v_record)
            v_record = tl.where(slot == 8, tl.sum(x * ga2 + y * gb2, 0), v_record)
            v_record = tl.where(slot == 9, tl.sum(v_distance * dx, 0), v_record)
            v_record = tl.where(slot == 10, tl.sum(v_distance * dy, 0), v_record)
            v_record = tl.where(slot == 11, tl.sum(v_log_alpha, 0) / tl.load(record + 11), v_record)
            if GEOMETRY:
                v_record = tl.where(slot == 12, tl.sum(v_depth, 0), v_record)
                v_record = tl.where(slot == 13, tl.sum(weight * v_n0, 0), v_record)
                v_record = tl.where(slot == 14, tl.sum(weight * v_n1, 0), v_record)
                v_record = tl.where(slot == 15, tl.sum(weight * v_n2, 0), v_record)
            tl.atomic_add(v_records + gid.to(tl.int64) * 16 + slot, v_record, sem="relaxed")
            v_color = tl.where(channel == 0, tl.sum(weight * v0, 0), 0.0)
            if D > 1:
                v_color = tl.where(channel == 1, tl.sum(weight * v1, 0), v_color)
            if D > 2:
                v_color = tl.where(channel == 2, tl.sum(weight * v2, 0), v_color)
            if D > 3:
                v_color = tl.where(channel == 3, tl.sum(weight * v3, 0), v_color)
            address = v_colors + gid.to(tl.int64) * channels + channel
            tl.atomic_add(address, v_color, channel < D, sem="relaxed")
        position -= 1
