"""Kernels of spherical harmonics: one lane per Gaussian and image, all three colours.

points [batches, N, 3], origins [images, 3], coefficients [batches or images, N, K, 3], radii [images, N, 2] int32,
values [images, N, 3]; float32 unless noted. v_x is the gradient of the loss with respect to x.
The bases are polynomials of the unit direction. Their gradients may be those of any extension off the sphere: only the
component orthogonal to the direction counts.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _basis(x, y, z, k: tl.constexpr):
    """Basis function k, in the order m = -l..l, odd orders with a minus sign."""
    if k == 0:
        return 0.28209479177387814 + 0.0 * x
    elif k == 1:
        return -0.4886025119029199 * y
    elif k == 2:
        return 0.4886025119029199 * z
    elif k == 3:
        return -0.4886025119029199 * x
    elif k == 4:
        return 1.0925484305920792 * x * y
    elif k == 5:
        return -1.0925484305920792 * y * z
    elif k == 6:
        return 0.31539156525252005 * (3 * z * z - 1)
    elif k == 7:
        return -1.0925484305920792 * x * z
    elif k == 8:
        return 0.5462742152960396 * (x * x - y * y)
    elif k == 9:
        return -0.5900435899266435 * y * (3 * x * x - y * y)
    elif k == 10:
        return 2.890611442640554 * x * y * z
    elif k == 11:
        return -0.4570457994644658 * y * (5 * z * z - 1)
    elif k == 12:
        return 0.3731763325901154 * z * (5 * z * z - 3)
    elif k == 13:
        return -0.4570457994644658 * x * (5 * z * z - 1)
    elif k == 14:
        return 1.445305721320277 * z * (x * x - y * y)
    elif k == 15:
        return -0.5900435899266435 * x * (x * x - 3 * y * y)
    elif k == 16:
        return 2.5033429417967046 * x * y * (x * x - y * y)
    elif k == 17:
        return -1.7701307697799304 * y * z * (3 * x * x - y * y)
    elif k == 18:
        return 0.9461746957575601 * x * y * (7 * z * z - 1)
    elif k == 19:
        return -0.6690465435572892 * y * z * (7 * z * z - 3)
    elif k == 20:
        return 0.10578554691520431 * (z * z * (35 * z * z - 30) + 3)
    elif k == 21:
        return -0.6690465435572892 * x * z * (7 * z * z - 3)
    elif k == 22:
        return 0.47308734787878004 * ((x * x - y * y) * (7 * z * z - 1))
    elif k == 23:
        return -1.7701307697799304 * x * z * (x * x - 3 * y * y)
    elif k == 24:
        return 0.6258357354491761 * (x * x * (x * x - 3 * y * y) - y * y * (3 * x * x - y * y))


@triton.jit
def _basis_gradient(x, y, z, k: tl.constexpr):
    """Partial derivatives of basis function k by x, y and z."""
    if k == 0:
        return 0.0 * x, 0.0 * x, 0.0 * x
    elif k == 1:
        return 0.0 * x, -0.4886025119029199 + 0.0 * x, 0.0 * x
    elif k == 2:
        return 0.0 * x, 0.0 * x, 0.4886025119029199 + 0.0 * x
    elif k == 3:
        return -0.4886025119029199 + 0.0 * x, 0.0 * x, 0.0 * x
    elif k == 4:
        return 1.0925484305920792 * (y), 1.0925484305920792 * (x), 0.0 * x
    elif k == 5:
        return 0.0 * x, -1.0925484305920792 * (z), -1.0925484305920792 * (y)
    elif k == 6:
        return 0.0 * x, 0.0 * x, 0.31539156525252005 * (6 * z)
    elif k == 7:
        return -1.0925484305920792 * (z), 0.0 * x, -1.0925484305920792 * (x)
    elif k == 8:
        return 0.5462742152960396 * (2 * x), 0.5462742152960396 * (-2 * y), 0.0 * x
    elif k == 9:
        return -0.5900435899266435 * (6 * x * y), -0.5900435899266435 * (3 * (x * x - y * y)), 0.0 * x
    elif k == 10:
        return 2.890611442640554 * (y * z), 2.890611442640554 * (x * z), 2.890611442640554 * (x * y)
    elif k == 11:
        return 0.0 * x, -0.4570457994644658 * (5 * z * z - 1), -0.4570457994644658 * (10 * y * z)
    elif k == 12:
        return 0.0 * x, 0.0 * x, 0.3731763325901154 * (15 * z * z - 3)
    elif k == 13:
        return -0.4570457994644658 * (5 * z * z - 1), 0.0 * x, -0.4570457994644658 * (10 * x * z)
    elif k == 14:
        return 1.445305721320277 * (2 * x * z), 1.445305721320277 * (-2 * y * z), 1.445305721320277 * (x * x - y * y)
    elif k == 15:
        return -0.5900435899266435 * (3 * (x * x - y * y)), -0.5900435899266435 * (-6 * x * y), 0.0 * x
    elif k == 16:
        return 2.5033429417967046 * (y * (3 * x * x - y * y)), 2.5033429417967046 * (x * (x * x - 3 * y * y)), 0.0 * x
    elif k == 17:
        return (
            -1.7701307697799304 * (6 * x * y * z),
            -1.7701307697799304 * (3 * z * (x * x - y * y)),
            -1.7701307697799304 * (y * (3 * x * x - y * y)),
        )
    elif k == 18:
        return (
            0.9461746957575601 * (y * (7 * z * z - 1)),
            0.9461746957575601 * (x * (7 * z * z - 1)),
            0.9461746957575601 * (14 * x * y * z),
        )
    elif k == 19:
        return 0.0 * x, -0.6690465435572892 * (z * (7 * z * z - 3)), -0.6690465435572892 * (y * (21 * z * z - 3))
    elif k == 20:
        return 0.0 * x, 0.0 * x, 0.10578554691520431 * (z * (140 * z * z - 60))
    elif k == 21:
        return -0.6690465435572892 * (z * (7 * z * z - 3)), 0.0 * x, -0.6690465435572892 * (x * (21 * z * z - 3))
    elif k == 22:
        return (
            0.47308734787878004 * (2 * x * (7 * z * z - 1)),
            0.47308734787878004 * (-2 * y * (7 * z * z - 1)),
            0.47308734787878004 * (14 * z * (x * x - y * y)),
        )
    elif k == 23:
        return (
            -1.7701307697799304 * (3 * z * (x * x - y * y)),
            -1.7701307697799304 * (-6 * x * y * z),
            -1.7701307697799304 * (x * (x * x - 3 * y * y)),
        )
    elif k == 24:
        return (
            0.6258357354491761 * (4 * x * (x * x - 3 * y * y)),
            0.6258357354491761 * (4 * y * (y * y - 3 * x * x)),
            0.0 * x,
        )


@triton.jit
def _direction(points, origins, image, gid, mask):
    """Unit direction from the origin of the image to the point, and 1 / distance."""
    x = tl.load(points + gid * 3, mask, other=1.0) - tl.load(origins + image * 3)
    y = tl.load(points + gid * 3 + 1, mask, other=0.0) - tl.load(origins + image * 3 + 1)
    z = tl.load(points + gid * 3 + 2, mask, other=0.0) - tl.load(origins + image * 3 + 2)
    inverse = 1.0 / tl.maximum(tl.sqrt(x * x + y * y + z * z), 1e-12)
    return x * inverse, y * inverse, z * inverse, inverse


@triton.jit(do_not_specialize=["count", "cameras", "per_image", "total"])
def rocm3d_harmonics_forward(
    points, origins, coefficients, radii, values,
    count, cameras, per_image, total,
    BASES: tl.constexpr, AS_COLORS: tl.constexpr, HAS_RADII: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sums over BASES of `total` coefficients per Gaussian; AS_COLORS adds 0.5 and clamps at zero."""
    image = tl.program_id(1)
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = lane < count
    row = image.to(tl.int64) * count + lane
    gid = (image // cameras).to(tl.int64) * count + lane
    visible = mask
    if HAS_RADII:
        visible = mask & (tl.load(radii + row * 2, mask, other=0) > 0)
    x, y, z, _ = _direction(points, origins, image, gid, visible)
    offset = tl.where(per_image != 0, row, gid) * (total * 3)
    r = tl.zeros((BLOCK,), tl.float32)
    g, b = r, r
    for k in tl.static_range(BASES):
        value = _basis(x, y, z, k)
        r += value * tl.load(coefficients + offset + 3 * k, visible, other=0.0)
        g += value * tl.load(coefficients + offset + 3 * k + 1, visible, other=0.0)
        b += value * tl.load(coefficients + offset + 3 * k + 2, visible, other=0.0)
    if AS_COLORS:
        r, g, b = tl.maximum(r + 0.5, 0.0), tl.maximum(g + 0.5, 0.0), tl.maximum(b + 0.5, 0.0)
    tl.store(values + row * 3, tl.where(visible, r, 0.0), mask)
    tl.store(values + row * 3 + 1, tl.where(visible, g, 0.0), mask)
    tl.store(values + row * 3 + 2, tl.where(visible, b, 0.0), mask)


@triton.jit(do_not_specialize=["count", "cameras", "per_image", "total", "v_values_step"])
def rocm3d_harmonics_backward(
    points, origins, coefficients, radii, values, v_values, v_points, v_origins, v_coefficients,
    count, cameras, per_image, total, v_values_step,
    BASES: tl.constexpr, TOTAL: tl.constexpr, AS_COLORS: tl.constexpr, HAS_RADII: tl.constexpr,
    NEED_POINTS: tl.constexpr, NEED_ORIGINS: tl.constexpr, ADD: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Gradients for one image; ADD: images share coefficients or points, so additions are atomic."""
    image = tl.program_id(1)
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = lane < count
    row = image.to(tl.int64) * count + lane
    gid = (image // cameras).to(tl.int64) * count + lane
    visible = mask
    if HAS_RADII:
        visible = mask & (tl.load(radii + row * 2, mask, other=0) > 0)
    r = tl.load(v_values + row * v_values_step, visible, other=0.0)
    g = tl.load(v_values + row * v_values_step + 1, visible, other=0.0)
    b = tl.load(v_values + row * v_values_step + 2, visible, other=0.0)
    if AS_COLORS:
        r = tl.where(tl.load(values + row * 3, visible, other=0.0) > 0, r, 0.0)
        g = tl.where(tl.load(values + row * 3 + 1, visible, other=0.0) > 0, g, 0.0)
        b = tl.where(tl.load(values + row * 3 + 2, visible, other=0.0) > 0, b, 0.0)
    x, y, z, inverse = _direction(points, origins, image, gid, visible)
    offset = tl.where(per_image != 0, row, gid) * (total * 3)
    gx = tl.zeros((BLOCK,), tl.float32)
    gy, gz = gx, gx
    for k in tl.static_range(TOTAL):
        v_coefficient = v_coefficients + offset + 3 * k
        if k < BASES:
            value = _basis(x, y, z, k)
            if NEED_POINTS:
                v_basis = r * tl.load(coefficients + offset + 3 * k, visible, other=0.0)
                v_basis += g * tl.load(coefficients + offset + 3 * k + 1, visible, other=0.0)
                v_basis += b * tl.load(coefficients + offset + 3 * k + 2, visible, other=0.0)
                sx, sy, sz = _basis_gradient(x, y, z, k)
                gx += v_basis * sx
                gy += v_basis * sy
                gz += v_basis * sz
            if ADD:
                tl.atomic_add(v_coefficient, value * r, visible, sem="relaxed")
                tl.atomic_add(v_coefficient + 1, value * g, visible, sem="relaxed")
                tl.atomic_add(v_coefficient + 2, value * b, visible, sem="relaxed")
            else:
                tl.store(v_coefficient, tl.where(visible, value * r, 0.0), mask)
                tl.store(v_coefficient + 1, tl.where(visible, value * g, 0.0), mask)
                tl.store(v_coefficient + 2, tl.where(visible, value * b, 0.0), mask)
        elif not ADD:
            tl.store(v_coefficient, 0.0 * r, mask)
            tl.store(v_coefficient + 1, 0.0 * r, mask)
            tl.store(v_coefficient + 2, 0.0 * r, mask)
    if NEED_POINTS:
        radial = gx * x + gy * y + gz * z
        gx, gy, gz = (gx - radial * x) * inverse, (gy - radial * y) * inverse, (gz - radial * z) * inverse
        gx, gy, gz = tl.where(visible, gx, 0.0), tl.where(visible, gy, 0.0), tl.where(visible, gz, 0.0)
        if ADD:
            tl.atomic_add(v_points + gid * 3, gx, visible, sem="relaxed")
            tl.atomic_add(v_points + gid * 3 + 1, gy, visible, sem="relaxed")
            tl.atomic_add(v_points + gid * 3 + 2, gz, visible, sem="relaxed")
        else:
            tl.store(v_points + gid * 3, gx, mask)
            tl.store(v_points + gid * 3 + 1, gy, mask)
            tl.store(v_points + gid * 3 + 2, gz, mask)
        if NEED_ORIGINS:
            tl.atomic_add(v_origins + image * 3, -tl.sum(gx, 0), sem="relaxed")
            tl.atomic_add(v_origins + image * 3 + 1, -tl.sum(gy, 0), sem="relaxed")
            tl.atomic_add(v_origins + image * 3 + 2, -tl.sum(gz, 0), sem="relaxed")
