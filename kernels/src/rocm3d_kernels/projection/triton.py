"""Projection kernels: one lane per Gaussian. Shapes: README.md; v_x and gx are gradients with respect to x.

records [images, N, 8] float32: mean x and y, conic a, b and c, opacity, depth, compensation. radii [images, N, 2].
Backward sums over the cameras of a batch inside one program and stores v_viewmats by program: no atomic additions.
"""

from __future__ import annotations

import triton
import triton.language as tl

from rocm3d_kernels.image_formation import CLAMP, EXTENT, SMALLEST_ALPHA, SMALLEST_DETERMINANT
from rocm3d_kernels.tiles.triton import count_tiles

RECORD = 8

_CLAMP = tl.constexpr(CLAMP)
_EXTENT = tl.constexpr(EXTENT)
_SMALLEST_ALPHA = tl.constexpr(SMALLEST_ALPHA)
_SMALLEST_DETERMINANT = tl.constexpr(SMALLEST_DETERMINANT)


@triton.jit
def _rotation(quats, gid, mask):
    """Entries of the rotation matrix, the unit quaternion wxyz, and 1 / its length before normalisation."""
    w = tl.load(quats + gid * 4, mask, other=1.0)
    x = tl.load(quats + gid * 4 + 1, mask, other=0.0)
    y = tl.load(quats + gid * 4 + 2, mask, other=0.0)
    z = tl.load(quats + gid * 4 + 3, mask, other=0.0)
    inverse = 1.0 / tl.maximum(tl.sqrt(w * w + x * x + y * y + z * z), 1e-12)
    w, x, y, z = w * inverse, x * inverse, y * inverse, z * inverse
    r00, r01, r02 = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    r10, r11, r12 = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    r20, r21, r22 = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return r00, r01, r02, r10, r11, r12, r20, r21, r22, w, x, y, z, inverse


@triton.jit
def _vecmat(t0, t1, t2, m00, m01, m02, m10, m11, m12, m20, m21, m22):
    """Row vector times 3 x 3 matrix."""
    return t0 * m00 + t1 * m10 + t2 * m20, t0 * m01 + t1 * m11 + t2 * m21, t0 * m02 + t1 * m12 + t2 * m22


@triton.jit
def _jacobian(x, y, z, fx, fy, cx, cy, width, height, ORTHO: tl.constexpr):
    """Entries j00, j02, j11, j12 of the Jacobian, the point of evaluation, and whether x and y are unclamped."""
    if ORTHO:
        zeros = tl.zeros_like(x)
        free = zeros == 0.0
        return zeros + fx, zeros, zeros + fy, zeros, x, y, free, free
    else:
        inv_z = 1.0 / z
        side_x, side_y = _CLAMP * 0.5 * width / fx, _CLAMP * 0.5 * height / fy
        low_x, high_x = -(cx / fx + side_x), (width - cx) / fx + side_x
        low_y, high_y = -(cy / fy + side_y), (height - cy) / fy + side_y
        slope_x, slope_y = x * inv_z, y * inv_z
        free_x = (slope_x >= low_x) & (slope_x <= high_x)
        free_y = (slope_y >= low_y) & (slope_y <= high_y)
        near_x = z * tl.minimum(tl.maximum(slope_x, low_x), high_x)
        near_y = z * tl.minimum(tl.maximum(slope_y, low_y), high_y)
        return (
            fx * inv_z,
            -fx * near_x * inv_z * inv_z,
            fy * inv_z,
            -fy * near_y * inv_z * inv_z,
            near_x,
            near_y,
            free_x,
            free_y,
        )


@triton.jit
def _axes(covars, quats, scales, gid, mask, FROM_COVARS: tl.constexpr):
    """Nine entries of the covariance S, or of the axes A = R diag(scales) with S = A A'."""
    if FROM_COVARS:
        s00 = tl.load(covars + gid * 6, mask, other=1.0)
        s01 = tl.load(covars + gid * 6 + 1, mask, other=0.0)
        s02 = tl.load(covars + gid * 6 + 2, mask, other=0.0)
        s11 = tl.load(covars + gid * 6 + 3, mask, other=1.0)
        s12 = tl.load(covars + gid * 6 + 4, mask, other=0.0)
        s22 = tl.load(covars + gid * 6 + 5, mask, other=1.0)
        return s00, s01, s02, s01, s11, s12, s02, s12, s22
    else:
        r00, r01, r02, r10, r11, r12, r20, r21, r22, _w, _x, _y, _z, _i = _rotation(quats, gid, mask)
        a0 = tl.load(scales + gid * 3, mask, other=1.0)
        a1 = tl.load(scales + gid * 3 + 1, mask, other=1.0)
        a2 = tl.load(scales + gid * 3 + 2, mask, other=1.0)
        return r00 * a0, r01 * a1, r02 * a2, r10 * a0, r11 * a1, r12 * a2, r20 * a0, r21 * a1, r22 * a2


@triton.jit
def _cov2d(u00, u01, u02, u10, u11, u12, t00, t01, t02, t10, t11, t12, FROM_COVARS: tl.constexpr):
    """Entries a, b, c of the 2D covariance without eps2d."""
    if FROM_COVARS:
        return (
            u00 * t00 + u01 * t01 + u02 * t02,
            u00 * t10 + u01 * t11 + u02 * t12,
            u10 * t10 + u11 * t11 + u12 * t12,
        )
    else:
        return (
            u00 * u00 + u01 * u01 + u02 * u02,
            u00 * u10 + u01 * u11 + u02 * u12,
            u10 * u10 + u11 * u11 + u12 * u12,
        )


@triton.jit(do_not_specialize=["count", "cameras", "width", "height", "all_rows"])
def rocm3d_project_forward(
    means, covars, quats, scales, opacities, viewmats, intrinsics, records, radii, counts, keys, totals, cleared,
    count, cameras, width, height, eps2d, near, far, radius_clip, all_rows, clear,
    FROM_COVARS: tl.constexpr, HAS_OPACITIES: tl.constexpr, COMPENSATE: tl.constexpr, ORTHO: tl.constexpr,
    COARSE: tl.constexpr, FINE: tl.constexpr, AHEAD: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Records and radii of BLOCK Gaussians in one image; with COARSE also counts of tiles of two sizes, and keys.

    AHEAD (slots are guessed): no keys and totals; instead zeroes `clear` floats of `cleared` for later kernels, which
    saves a launch.
    """
    image = tl.program_id(1)
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if AHEAD:
        programs = tl.num_programs(0) * tl.num_programs(1)
        first = (image * tl.num_programs(0) + tl.program_id(0)) * BLOCK
        for start in range(first, clear, programs * BLOCK):
            index = start + tl.arange(0, BLOCK)
            tl.store(cleared + index, 0.0, index < clear)
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
    depth = r20 * px + r21 * py + r22 * pz + m2
    # A comparison with NaN is false: such a Gaussian is invisible.
    usable = mask & (depth > near) & (depth < far)
    x = tl.where(usable, r00 * px + r01 * py + r02 * pz + m0, 1.0)
    y = tl.where(usable, r10 * px + r11 * py + r12 * pz + m1, 1.0)
    z = tl.where(usable, depth, 1.0)

    j00, j02, j11, j12, _nx, _ny, _fx, _fy = _jacobian(x, y, z, fx, fy, cx, cy, width, height, ORTHO)
    t00, t01, t02 = j00 * r00 + j02 * r20, j00 * r01 + j02 * r21, j00 * r02 + j02 * r22
    t10, t11, t12 = j11 * r10 + j12 * r20, j11 * r11 + j12 * r21, j11 * r12 + j12 * r22
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = _axes(covars, quats, scales, gid, usable, FROM_COVARS)
    u00, u01, u02 = _vecmat(t00, t01, t02, a00, a01, a02, a10, a11, a12, a20, a21, a22)
    u10, u11, u12 = _vecmat(t10, t11, t12, a00, a01, a02, a10, a11, a12, a20, a21, a22)
    raw_a, b, raw_c = _cov2d(u00, u01, u02, u10, u11, u12, t00, t01, t02, t10, t11, t12, FROM_COVARS)
    a, c = raw_a + eps2d, raw_c + eps2d
    det = a * c - b * b
    determinant = tl.maximum(det, _SMALLEST_DETERMINANT)
    inv_det = 1.0 / determinant

    if COMPENSATE:
        compensation = tl.sqrt(tl.maximum((raw_a * raw_c - b * b) * inv_det, 0.0))
    else:
        compensation = tl.full((BLOCK,), 1.0, tl.float32)
    extent = tl.full((BLOCK,), _EXTENT, tl.float32)
    opacity = tl.full((BLOCK,), 1.0, tl.float32)
    if HAS_OPACITIES:
        opacity = tl.load(opacities + gid, usable, other=0.0) * compensation
        tight = tl.sqrt(2.0 * tl.log(tl.maximum(opacity / _SMALLEST_ALPHA, 1.0)))
        extent = tl.where(opacity >= _SMALLEST_ALPHA, tl.minimum(extent, tight), 0.0)
    if ORTHO:
        mean_x, mean_y = fx * x + cx, fy * y + cy
    else:
        mean_x, mean_y = fx * x / z + cx, fy * y / z + cy
    radius_x, radius_y = tl.ceil(extent * tl.sqrt(a)), tl.ceil(extent * tl.sqrt(c))
    # A Gaussian of infinite size is invisible, too.
    visible = usable & (det > 0) & (det < float("inf")) & ((radius_x > radius_clip) | (radius_y > radius_clip))
    visible = visible & (radius_x > 0) & (radius_y > 0)
    visible = visible & (mean_x + radius_x > 0) & (mean_x - radius_x < width)
    visible = visible & (mean_y + radius_y > 0) & (mean_y - radius_y < height)

    row = image.to(tl.int64) * count + lane
    record = records + row * 8
    tl.store(record, mean_x, mask)
    tl.store(record + 1, mean_y, mask)
    tl.store(record + 2, c * inv_det, mask)
    tl.store(record + 3, -b * inv_det, mask)
    tl.store(record + 4, a * inv_det, mask)
    tl.store(record + 5, opacity, mask)
    tl.store(record + 6, tl.where(usable, depth, 0.0), mask)
    tl.store(record + 7, compensation, mask)
    # Capped far beyond any image, so that it fits into an integer.
    tl.store(radii + row * 2, tl.where(visible, tl.minimum(radius_x, 1e9), 0.0).to(tl.int32), mask)
    tl.store(radii + row * 2 + 1, tl.where(visible, tl.minimum(radius_y, 1e9), 0.0).to(tl.int32), mask)
    if COARSE > 0:
        ca, cb, cc = c * inv_det, -b * inv_det, a * inv_det
        coarse = count_tiles(mean_x, mean_y, ca, cb, cc, opacity, visible, width, height, COARSE, BLOCK)
        fine = count_tiles(mean_x, mean_y, ca, cb, cc, opacity, visible, width, height, FINE, BLOCK)
        tl.store(counts + row, coarse, mask)
        tl.store(counts + all_rows + row, fine, mask)
        if not AHEAD:
            tl.atomic_add(totals, tl.sum(coarse.to(tl.int64), 0), sem="relaxed")
            tl.atomic_add(totals + 1, tl.sum(fine.to(tl.int64), 0), sem="relaxed")
            # Gaussians that touch no tile are sorted last.
            tl.store(keys + row, tl.where(coarse > 0, depth, float("inf")), mask)


@triton.jit(
    do_not_specialize=["step_means2d", "step_shapes", "step_depths", "count", "cameras", "width", "height"],
)
def rocm3d_project_backward(
    means, covars, quats, scales, opacities, viewmats, intrinsics, radii, v_means2d, v_shapes, v_depths,
    v_means, v_covars, v_quats, v_scales, v_opacities, v_viewmats,
    step_means2d, step_shapes, step_depths, count, cameras, width, height, eps2d,
    FROM_COVARS: tl.constexpr, HAS_OPACITIES: tl.constexpr, COMPENSATE: tl.constexpr, ORTHO: tl.constexpr,
    HAS_DEPTHS: tl.constexpr, NEED_VIEWMATS: tl.constexpr, SHAPES_AT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Gradients of BLOCK Gaussians of one batch, summed over its cameras; shapes begin at column SHAPES_AT."""
    batch = tl.program_id(1)
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = lane < count
    gid = batch.to(tl.int64) * count + lane
    px = tl.load(means + gid * 3, mask, other=0.0)
    py = tl.load(means + gid * 3 + 1, mask, other=0.0)
    pz = tl.load(means + gid * 3 + 2, mask, other=0.0)
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = _axes(covars, quats, scales, gid, mask, FROM_COVARS)
    zeros = tl.zeros((BLOCK,), tl.float32)
    gp0, gp1, gp2, gopacity = zeros, zeros, zeros, zeros
    # A Gaussian that no camera sees gets zero gradients, even if it holds NaN.
    ever_visible = lane < 0
    # Gradient of the axes or of the covariance.
    ga00, ga01, ga02, ga10, ga11, ga12, ga20, ga21, ga22 = zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros
    for camera in range(cameras):
        image = batch * cameras + camera
        row = image.to(tl.int64) * count + lane
        visible = mask & (tl.load(radii + row * 2, mask, other=0) > 0)
        ever_visible = ever_visible | visible
        view, k = viewmats + image * 16, intrinsics + image * 9
        r00, r01, r02, m0 = tl.load(view), tl.load(view + 1), tl.load(view + 2), tl.load(view + 3)
        r10, r11, r12, m1 = tl.load(view + 4), tl.load(view + 5), tl.load(view + 6), tl.load(view + 7)
        r20, r21, r22, m2 = tl.load(view + 8), tl.load(view + 9), tl.load(view + 10), tl.load(view + 11)
        fx, cx, fy, cy = tl.load(k), tl.load(k + 2), tl.load(k + 4), tl.load(k + 5)
        x = tl.where(visible, r00 * px + r01 * py + r02 * pz + m0, 1.0)
        y = tl.where(visible, r10 * px + r11 * py + r12 * pz + m1, 1.0)
        z = tl.where(visible, r20 * px + r21 * py + r22 * pz + m2, 1.0)
        j00, j02, j11, j12, near_x, near_y, free_x, free_y = _jacobian(x, y, z, fx, fy, cx, cy, width, height, ORTHO)
        t00, t01, t02 = j00 * r00 + j02 * r20, j00 * r01 + j02 * r21, j00 * r02 + j02 * r22
        t10, t11, t12 = j11 * r10 + j12 * r20, j11 * r11 + j12 * r21, j11 * r12 + j12 * r22
        u00, u01, u02 = _vecmat(t00, t01, t02, a00, a01, a02, a10, a11, a12, a20, a21, a22)
        u10, u11, u12 = _vecmat(t10, t11, t12, a00, a01, a02, a10, a11, a12, a20, a21, a22)

        # Recomputed: faster than reading them, and saves memory.
        raw_a, b, raw_c = _cov2d(u00, u01, u02, u10, u11, u12, t00, t01, t02, t10, t11, t12, FROM_COVARS)
        a, c = raw_a + eps2d, raw_c + eps2d
        inv_det = 1.0 / tl.maximum(a * c - b * b, _SMALLEST_DETERMINANT)
        # d(S^-1) = -S^-1 dS S^-1.
        ia, ib, ic = c * inv_det, -b * inv_det, a * inv_det
        v_shape = v_shapes + row * step_shapes + SHAPES_AT
        g0 = tl.load(v_shape, visible, other=0.0)
        g1 = 0.5 * tl.load(v_shape + 1, visible, other=0.0)
        g2 = tl.load(v_shape + 2, visible, other=0.0)
        h00, h01 = ia * g0 + ib * g1, ia * g1 + ib * g2
        h10, h11 = ib * g0 + ic * g1, ib * g1 + ic * g2
        v_a = -(h00 * ia + h01 * ib)
        v_b = -2.0 * (h00 * ib + h01 * ic)
        v_c = -(h10 * ib + h11 * ic)

        if COMPENSATE:
            ratio = tl.sqrt(tl.maximum((raw_a * raw_c - b * b) * inv_det, 0.0))
        if HAS_OPACITIES:
            v_opacity = tl.load(v_shape + 3, visible, other=0.0)
            if COMPENSATE:
                gopacity += v_opacity * ratio
                v_opacity = v_opacity * tl.load(opacities + gid, visible, other=0.0)
            else:
                gopacity += v_opacity
        if COMPENSATE:
            if not HAS_OPACITIES:
                v_opacity = zeros
            if HAS_DEPTHS:
                v_opacity += tl.load(v_depths + row * step_depths + 1, visible, other=0.0)
            v_det_ratio = tl.where(ratio > 0, 0.5 * v_opacity / tl.maximum(ratio, 1e-12), 0.0)
            v_raw_det, v_det = v_det_ratio * inv_det, -v_det_ratio * ratio * ratio * inv_det
            v_a += v_raw_det * (c - eps2d) + v_det * c
            v_b += -2.0 * b * (v_raw_det + v_det)
            v_c += v_raw_det * (a - eps2d) + v_det * a

        if FROM_COVARS:
            # cov2d = T S T', S is symmetric: the gradient of S is T' G T.
            ga00 += v_a * t00 * t00 + v_b * t00 * t10 + v_c * t10 * t10
            ga01 += 2 * v_a * t00 * t01 + v_b * (t00 * t11 + t01 * t10) + 2 * v_c * t10 * t11
            ga02 += 2 * v_a * t00 * t02 + v_b * (t00 * t12 + t02 * t10) + 2 * v_c * t10 * t12
            ga11 += v_a * t01 * t01 + v_b * t01 * t11 + v_c * t11 * t11
            ga12 += 2 * v_a * t01 * t02 + v_b * (t01 * t12 + t02 * t11) + 2 * v_c * t11 * t12
            ga22 += v_a * t02 * t02 + v_b * t02 * t12 + v_c * t12 * t12
            gt00, gt01, gt02 = (
                2 * v_a * u00 + v_b * u10,
                2 * v_a * u01 + v_b * u11,
                2 * v_a * u02 + v_b * u12,
            )
            gt10, gt11, gt12 = (
                v_b * u00 + 2 * v_c * u10,
                v_b * u01 + 2 * v_c * u11,
                v_b * u02 + 2 * v_c * u12,
            )
        else:
            gu00, gu01, gu02 = (
                2 * v_a * u00 + v_b * u10,
                2 * v_a * u01 + v_b * u11,
                2 * v_a * u02 + v_b * u12,
            )
            gu10, gu11, gu12 = (
                v_b * u00 + 2 * v_c * u10,
                v_b * u01 + 2 * v_c * u11,
                v_b * u02 + 2 * v_c * u12,
            )
            ga00 += t00 * gu00 + t10 * gu10
            ga01 += t00 * gu01 + t10 * gu11
            ga02 += t00 * gu02 + t10 * gu12
            ga10 += t01 * gu00 + t11 * gu10
            ga11 += t01 * gu01 + t11 * gu11
            ga12 += t01 * gu02 + t11 * gu12
            ga20 += t02 * gu00 + t12 * gu10
            ga21 += t02 * gu01 + t12 * gu11
            ga22 += t02 * gu02 + t12 * gu12
            gt00, gt01, gt02 = _vecmat(gu00, gu01, gu02, a00, a10, a20, a01, a11, a21, a02, a12, a22)
            gt10, gt11, gt12 = _vecmat(gu10, gu11, gu12, a00, a10, a20, a01, a11, a21, a02, a12, a22)

        gmx = tl.load(v_means2d + row * step_means2d, visible, other=0.0)
        gmy = tl.load(v_means2d + row * step_means2d + 1, visible, other=0.0)
        if ORTHO:
            gx, gy, gz = fx * gmx, fy * gmy, zeros
        else:
            over_z = 1.0 / z
            over_z2 = over_z * over_z
            gj00, gj02 = gt00 * r00 + gt01 * r01 + gt02 * r02, gt00 * r20 + gt01 * r21 + gt02 * r22
            gj11, gj12 = gt10 * r10 + gt11 * r11 + gt12 * r12, gt10 * r20 + gt11 * r21 + gt12 * r22
            gx, gy = fx * over_z * gmx, fy * over_z * gmy
            gz = -(fx * x * gmx + fy * y * gmy) * over_z2 - (fx * gj00 + fy * gj11) * over_z2
            # With a clamped slope the point depends on the depth only.
            gx += tl.where(free_x, -fx * over_z2 * gj02, 0.0)
            gy += tl.where(free_y, -fy * over_z2 * gj12, 0.0)
            gz += tl.where(free_x, 2.0, 1.0) * fx * near_x * over_z2 * over_z * gj02
            gz += tl.where(free_y, 2.0, 1.0) * fy * near_y * over_z2 * over_z * gj12
        if HAS_DEPTHS:
            gz += tl.load(v_depths + row * step_depths, visible, other=0.0)
        gx, gy, gz = tl.where(visible, gx, 0.0), tl.where(visible, gy, 0.0), tl.where(visible, gz, 0.0)
        gp0 += r00 * gx + r10 * gy + r20 * gz
        gp1 += r01 * gx + r11 * gy + r21 * gz
        gp2 += r02 * gx + r12 * gy + r22 * gz
        if NEED_VIEWMATS:
            v_view = v_viewmats + (tl.program_id(0) * tl.num_programs(1) * cameras + image) * 16
            tl.store(v_view, tl.sum(tl.where(visible, gx * px + j00 * gt00, 0.0), 0))
            tl.store(v_view + 1, tl.sum(tl.where(visible, gx * py + j00 * gt01, 0.0), 0))
            tl.store(v_view + 2, tl.sum(tl.where(visible, gx * pz + j00 * gt02, 0.0), 0))
            tl.store(v_view + 3, tl.sum(gx, 0))
            tl.store(v_view + 4, tl.sum(tl.where(visible, gy * px + j11 * gt10, 0.0), 0))
            tl.store(v_view + 5, tl.sum(tl.where(visible, gy * py + j11 * gt11, 0.0), 0))
            tl.store(v_view + 6, tl.sum(tl.where(visible, gy * pz + j11 * gt12, 0.0), 0))
            tl.store(v_view + 7, tl.sum(gy, 0))
            tl.store(v_view + 8, tl.sum(tl.where(visible, gz * px + j02 * gt00 + j12 * gt10, 0.0), 0))
            tl.store(v_view + 9, tl.sum(tl.where(visible, gz * py + j02 * gt01 + j12 * gt11, 0.0), 0))
            tl.store(v_view + 10, tl.sum(tl.where(visible, gz * pz + j02 * gt02 + j12 * gt12, 0.0), 0))
            tl.store(v_view + 11, tl.sum(gz, 0))

    tl.store(v_means + gid * 3, tl.where(ever_visible, gp0, 0.0), mask)
    tl.store(v_means + gid * 3 + 1, tl.where(ever_visible, gp1, 0.0), mask)
    tl.store(v_means + gid * 3 + 2, tl.where(ever_visible, gp2, 0.0), mask)
    if HAS_OPACITIES:
        tl.store(v_opacities + gid, tl.where(ever_visible, gopacity, 0.0), mask)
    if FROM_COVARS:
        tl.store(v_covars + gid * 6, tl.where(ever_visible, ga00, 0.0), mask)
        tl.store(v_covars + gid * 6 + 1, tl.where(ever_visible, ga01, 0.0), mask)
        tl.store(v_covars + gid * 6 + 2, tl.where(ever_visible, ga02, 0.0), mask)
        tl.store(v_covars + gid * 6 + 3, tl.where(ever_visible, ga11, 0.0), mask)
        tl.store(v_covars + gid * 6 + 4, tl.where(ever_visible, ga12, 0.0), mask)
        tl.store(v_covars + gid * 6 + 5, tl.where(ever_visible, ga22, 0.0), mask)
    else:
        r00, r01, r02, r10, r11, r12, r20, r21, r22, qw, qx, qy, qz, inverse = _rotation(quats, gid, mask)
        s0 = tl.load(scales + gid * 3, mask, other=1.0)
        s1 = tl.load(scales + gid * 3 + 1, mask, other=1.0)
        s2 = tl.load(scales + gid * 3 + 2, mask, other=1.0)
        tl.store(v_scales + gid * 3, tl.where(ever_visible, ga00 * r00 + ga10 * r10 + ga20 * r20, 0.0), mask)
        tl.store(v_scales + gid * 3 + 1, tl.where(ever_visible, ga01 * r01 + ga11 * r11 + ga21 * r21, 0.0), mask)
        tl.store(v_scales + gid * 3 + 2, tl.where(ever_visible, ga02 * r02 + ga12 * r12 + ga22 * r22, 0.0), mask)
        g00, g01, g02 = ga00 * s0, ga01 * s1, ga02 * s2
        g10, g11, g12 = ga10 * s0, ga11 * s1, ga12 * s2
        g20, g21, g22 = ga20 * s0, ga21 * s1, ga22 * s2
        gw = 2 * (qx * (g21 - g12) + qy * (g02 - g20) + qz * (g10 - g01))
        gx = 2 * (-2 * qx * (g11 + g22) + qy * (g01 + g10) + qz * (g02 + g20) + qw * (g21 - g12))
        gy = 2 * (qx * (g01 + g10) - 2 * qy * (g00 + g22) + qz * (g12 + g21) + qw * (g02 - g20))
        gz = 2 * (qx * (g02 + g20) + qy * (g12 + g21) - 2 * qz * (g00 + g11) + qw * (g10 - g01))
        # Through the normalisation: only the component orthogonal to the quaternion counts.
        along = gw * qw + gx * qx + gy * qy + gz * qz
        tl.store(v_quats + gid * 4, tl.where(ever_visible, (gw - along * qw) * inverse, 0.0), mask)
        tl.store(v_quats + gid * 4 + 1, tl.where(ever_visible, (gx - along * qx) * inverse, 0.0), mask)
        tl.store(v_quats + gid * 4 + 2, tl.where(ever_visible, (gy - along * qy) * inverse, 0.0), mask)
        tl.store(v_quats + gid * 4 + 3, tl.where(ever_visible, (gz - along * qz) * inverse, 0.0), mask)
