"""Counts touched pixels: one program per tile, front to back, until T <= 0.5 in all its pixels.

records [images * N, 8] float32: mean x and y, conic a, b and c, opacity, two unused. rows [pairs], offsets [tiles + 1],
counts [images * N] int32.
"""

from __future__ import annotations

import triton
import triton.language as tl

from rocm3d_kernels.image_formation import SMALLEST_ALPHA

_SMALLEST_ALPHA = tl.constexpr(SMALLEST_ALPHA)
_LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit(do_not_specialize=["width", "height", "tiles_x", "tiles_image"])
def rocm3d_touched_kernel(
    records, rows, offsets, counts, width, height, tiles_x, tiles_image, CAP: tl.constexpr, TILE: tl.constexpr
):  # fmt: skip
    """Counts are integers, so atomic additions are deterministic."""
    tile = tl.program_id(0)
    tile_in_image = tile % tiles_image
    lane = tl.arange(0, TILE * TILE)
    column, line = (tile_in_image % tiles_x) * TILE + lane % TILE, (tile_in_image // tiles_x) * TILE + lane // TILE
    x, y = column.to(tl.float32) + 0.5, line.to(tl.float32) + 0.5
    position, end = tl.load(offsets + tile), tl.load(offsets + tile + 1)
    T = tl.where((column < width) & (line < height), 1.0, 0.0)
    active = position < end
    while active:
        gid = tl.load(rows + position)
        record = records + gid.to(tl.int64) * 8
        dx, dy = tl.load(record) - x, tl.load(record + 1) - y
        a, b, c = tl.load(record + 2), tl.load(record + 3), tl.load(record + 4)
        sigma = 0.5 * (a * dx * dx + c * dy * dy) + b * dx * dy
        alpha = tl.minimum(tl.load(record + 5) * tl.exp2(sigma * -_LOG2E), CAP)
        drawn = (sigma >= 0.0) & (alpha >= _SMALLEST_ALPHA)
        T = tl.where(drawn, T - alpha * T, T)
        pixels = tl.sum((drawn & (T > 0.5)).to(tl.int32), 0)
        if pixels > 0:
            tl.atomic_add(counts + gid, pixels, sem="relaxed")
        position += 1
        active = (position < end) & (tl.max(T, 0) > 0.5)
