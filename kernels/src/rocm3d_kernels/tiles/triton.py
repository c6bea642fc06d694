"""Kernels that intersect Gaussians with tiles: the exact ellipse against rows of tiles, not its bounding box.

records [images * N, 8] float32: mean x and y, conic a, b and c, opacity, depth, compensation. counts [images * N],
offsets, begins [tiles + 1] int32; pairs are a sort key (int64; with ORDERED int16 or int32) and a gid (int32).
A tile counts if alpha reaches the smallest drawn alpha at a pixel centre of the row; a small slack covers rounding.
Tiles are squares of TILE pixels.
"""

from __future__ import annotations

import triton
import triton.language as tl

from rocm3d_kernels.image_formation import SMALLEST_ALPHA

# As SLOTS: every tile has as many entries as it needs.
BINS = -1

_SMALLEST_ALPHA = tl.constexpr(SMALLEST_ALPHA)
_BINS = tl.constexpr(BINS)
# Pixels, and parts of the ellipse's half width: far above float32 rounding, far below a tile.
_SLACK = tl.constexpr(1e-3)
_SLACK_PART = tl.constexpr(1e-5)


@triton.jit
def _ellipse(a, b, c, opacity):
    """Level 2 ln(255 o) of the outline, determinant, half width, half height, and dy of the rightmost point."""
    level = 2.0 * tl.log(tl.maximum(opacity / _SMALLEST_ALPHA, 1.0))
    determinant = tl.maximum(a * c - b * b, 1e-20)
    half_width = tl.sqrt(level * c / determinant)
    half_height = tl.sqrt(level * a / determinant)
    return level, determinant, half_width, half_height, -b / c * half_width


@triton.jit
def _row_range(mean_y, half_y, tiles_y, TILE: tl.constexpr):
    """First row of tiles, and the last row + 1."""
    first = tl.ceil(mean_y - half_y - _SLACK - 0.5)
    last = tl.floor(mean_y + half_y + _SLACK - 0.5)
    # Clamped before the conversion: far positions do not fit into an integer.
    first = tl.minimum(tl.maximum(tl.floor(first / TILE), 0.0), tiles_y)
    after = tl.minimum(tl.maximum(tl.floor(last / TILE) + 1.0, 0.0), tiles_y)
    return first.to(tl.int32), tl.maximum(first, after).to(tl.int32)


@triton.jit
def _column_span(row, mean_x, mean_y, a, b, level, determinant, half_x, half_y, dy_right, tiles_x, TILE: tl.constexpr):
    """First column of tiles that the ellipse touches in a row of tiles, and the number of columns."""
    top = row.to(tl.float32) * TILE + 0.5 - mean_y
    low = tl.maximum(top - _SLACK, -half_y)
    high = tl.minimum(top + (TILE - 1) + _SLACK, half_y)
    # The right edge is outermost at dy_right, the left one at -dy_right, clamped to the band of the row.
    at_right = tl.minimum(tl.maximum(dy_right, low), high)
    at_left = tl.minimum(tl.maximum(-dy_right, low), high)
    right = (-b * at_right + tl.sqrt(tl.maximum(level * a - determinant * at_right * at_right, 0.0))) / a
    left = (-b * at_left - tl.sqrt(tl.maximum(level * a - determinant * at_left * at_left, 0.0))) / a
    slack = _SLACK + _SLACK_PART * half_x
    first = tl.ceil(mean_x + left - slack - 0.5)
    last = tl.floor(mean_x + right + slack - 0.5)
    start = tl.minimum(tl.maximum(tl.floor(first / TILE), 0.0), tiles_x)
    after = tl.minimum(tl.maximum(tl.floor(last / TILE) + 1.0, 0.0), tiles_x)
    touched = (low <= high) & (first <= last)
    return start.to(tl.int32), tl.where(touched, tl.maximum(after - start, 0.0), 0.0).to(tl.int32)


@triton.jit
def count_tiles(mean_x, mean_y, a, b, c, opacity, visible, width, height, TILE: tl.constexpr, BLOCK: tl.constexpr):
    """Number of tiles that each of BLOCK Gaussians touches."""
    tiles_x, tiles_y = tl.cdiv(width, TILE), tl.cdiv(height, TILE)
    level, determinant, half_x, half_y, dy_right = _ellipse(a, b, c, opacity)
    first, after = _row_range(mean_y, half_y, tiles_y, TILE)
    rows = tl.where(visible & (opacity >= _SMALLEST_ALPHA), after - first, 0)
    total = tl.zeros((BLOCK,), tl.int32)
    for step in range(tl.max(rows, 0)):
        _start, columns = _column_span(
            first + step, mean_x, mean_y, a, b, level, determinant, half_x, half_y, dy_right, tiles_x, TILE
        )
        total += tl.where(step < rows, columns, 0)
    return total


@triton.jit
def _depth_key(depth):
    """The depth as unsigned 32 bits in the same order, also for negative depths of orthographic cameras."""
    bits = depth.to(tl.int32, bitcast=True)
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.int64) + 2147483648


@triton.jit
def _store_pair(
    tiles, gaussians, ends, pair, tile, gid, depth_key, fill, mask, ORDERED: tl.constexpr, SLOTS: tl.constexpr
):
    """Stores one pair per lane. Without ORDERED the key is 64 bits: tile << 32 | depth.

    With SLOTS every tile has so many entries, filled in any order with depth << 32 | gid, and `gaussians` counts the
    pairs per tile, also those that do not fit. With BINS a tile has as many entries as it needs, from `ends` on: the
    same code first counts the pairs, then counts them down while it stores them (`fill`).
    """
    if SLOTS != 0:
        key = ((depth_key - 2147483648) << 32) | gid.to(tl.int64)
        step = 1
        if SLOTS == _BINS:
            step = tl.where(fill > 0, -1, 1)
        slot = tl.atomic_add(gaussians + tile, tl.full(tile.shape, 1, tl.int32) * step, mask, sem="relaxed")
        if SLOTS == _BINS:
            # No tile has more than 2147483647 pairs, so the counting pass stores nothing.
            filled = mask & (slot > tl.where(fill > 0, 0, 2147483647))
            tl.store(tiles + tl.load(ends + tile, filled, other=0) + (slot - 1), key, filled)
        else:
            tl.store(tiles + tile.to(tl.int64) * SLOTS + slot, key, mask & (slot < SLOTS))
    else:
        if ORDERED:
            tl.store(tiles + pair, tile.to(tiles.dtype.element_ty), mask)
        else:
            tl.store(tiles + pair, (tile.to(tl.int64) << 32) | depth_key, mask)
        tl.store(gaussians + pair, gid.to(tl.int32), mask)


@triton.jit(do_not_specialize=["rows", "per_image", "tiles_x", "tiles_y", "all_tiles", "fill"])
def rocm3d_emit_tiles(
    records, order, ends, counts, tiles, gaussians, rows, per_image, tiles_x, tiles_y, all_tiles, fill,
    ORDERED: tl.constexpr, SLOTS: tl.constexpr, TILE: tl.constexpr,
    BLOCK: tl.constexpr, ROWS: tl.constexpr, LARGE: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Pairs of tile and Gaussian of BLOCK Gaussians; `ends` are cumulative sums of their counts.

    Gaussians with up to LARGE tiles run in parallel lanes, ROWS rows of tiles at a time. Each larger one runs alone,
    with a lane for each of WIDE rows, so that it does not delay the others. SLOTS: see `_store_pair`.
    """
    lane = tl.arange(0, BLOCK)
    index = tl.program_id(0).to(tl.int64) * BLOCK + lane
    mask = index < rows
    if ORDERED:
        gid = tl.load(order + index, mask, other=0)
    else:
        gid = index
    tile_count = tl.load(counts + gid, mask, other=0)
    end = tile_count
    if SLOTS == 0:
        end = tl.load(ends + index, mask, other=0)
    large = tile_count > LARGE
    mask = mask & (tile_count > 0) & (tile_count <= LARGE)
    next_pair = end - tile_count
    record = records + gid * 8
    mean_x, mean_y = tl.load(record, mask, other=0.0), tl.load(record + 1, mask, other=0.0)
    a, b, c = (
        tl.load(record + 2, mask, other=1.0),
        tl.load(record + 3, mask, other=0.0),
        tl.load(record + 4, mask, other=1.0),
    )
    level, determinant, half_x, half_y, dy_right = _ellipse(a, b, c, tl.load(record + 5, mask, other=1.0))
    first, after = _row_range(mean_y, half_y, tiles_y, TILE)
    after = tl.where(mask, after, first)
    base = (gid // per_image).to(tl.int32) * (tiles_x * tiles_y)
    depth_key = _depth_key(tl.load(record + 6, mask, other=0.0))
    for chunk in range(0, tl.max(after - first, 0), ROWS):
        row = first[:, None] + chunk + tl.arange(0, ROWS)[None, :]
        start, columns = _column_span(
            row, mean_x[:, None], mean_y[:, None], a[:, None], b[:, None], level[:, None], determinant[:, None],
            half_x[:, None], half_y[:, None], dy_right[:, None], tiles_x, TILE,
        )  # fmt: skip
        columns = tl.where(row < after[:, None], columns, 0)
        pair = next_pair[:, None] + (tl.cumsum(columns, 1) - columns)
        tile = base[:, None] + row * tiles_x + start
        for step in range(tl.max(tl.max(columns, 1), 0)):
            # Never beyond the Gaussian's own range, if rounding yields more tiles here than in the count.
            keep = (step < columns) & (pair + step < end[:, None])
            gids = tl.broadcast_to(gid[:, None], pair.shape)
            _store_pair(
                tiles, gaussians, ends, pair + step, tile + step, gids, depth_key[:, None], fill, keep, ORDERED, SLOTS
            )
        next_pair += tl.sum(columns, 1)
    if SLOTS == 0:
        # If rounding yields fewer tiles, the remaining pairs get the tile index all_tiles.
        next_pair = tl.minimum(next_pair, end)
        for step in range(tl.max(tl.where(mask, end - next_pair, 0), 0).to(tl.int32)):
            left = mask & (next_pair + step < end)
            _store_pair(
                tiles,
                gaussians,
                ends,
                next_pair + step,
                all_tiles + 0 * base,
                gid,
                depth_key,
                fill,
                left,
                ORDERED,
                SLOTS,
            )

    next_large = tl.min(tl.where(large, lane, BLOCK), 0)
    while next_large < BLOCK:
        _emit_large(
            records, order, ends, counts, tiles, gaussians, tl.program_id(0).to(tl.int64) * BLOCK + next_large,
            per_image, tiles_x, tiles_y, all_tiles, fill, ORDERED, SLOTS, TILE, WIDE,
        )  # fmt: skip
        next_large = tl.min(tl.where(large & (lane > next_large), lane, BLOCK), 0)


@triton.jit
def _emit_large(
    records, order, ends, counts, tiles, gaussians, index, per_image, tiles_x, tiles_y, all_tiles, fill,
    ORDERED: tl.constexpr, SLOTS: tl.constexpr, TILE: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Pairs of one Gaussian that touches many tiles."""
    if ORDERED:
        gid = tl.load(order + index)
    else:
        gid = index
    end = tl.load(counts + gid)
    next_pair = 0 * end
    if SLOTS == 0:
        next_pair = tl.load(ends + index) - end
        end += next_pair
    record = records + gid * 8
    mean_x, mean_y = tl.load(record), tl.load(record + 1)
    a, b, c = tl.load(record + 2), tl.load(record + 3), tl.load(record + 4)
    level, determinant, half_x, half_y, dy_right = _ellipse(a, b, c, tl.load(record + 5))
    first, after = _row_range(mean_y, half_y, tiles_y, TILE)
    base = (gid // per_image).to(tl.int32) * (tiles_x * tiles_y)
    depth_key = _depth_key(tl.load(record + 6))
    while first < after:
        row = first + tl.arange(0, WIDE)
        start, columns = _column_span(
            row, mean_x, mean_y, a, b, level, determinant, half_x, half_y, dy_right, tiles_x, TILE
        )
        columns = tl.where(row < after, columns, 0)
        pair = next_pair + (tl.cumsum(columns, 0) - columns)
        tile = base + row * tiles_x + start
        for step in range(tl.max(columns, 0)):
            keep = (step < columns) & (pair + step < end)
            _store_pair(
                tiles, gaussians, ends, pair + step, tile + step, gid + 0 * pair, depth_key, fill, keep, ORDERED, SLOTS
            )
        next_pair += tl.sum(columns, 0)
        first += WIDE
    if SLOTS == 0:
        while next_pair < end:
            _store_pair(
                tiles, gaussians, ends, next_pair, all_tiles + 0 * base, gid, depth_key, fill, True, ORDERED, SLOTS
            )
            next_pair += 1


@triton.jit
def _sort_by_depth(keys, out, count, SIZE: tl.constexpr):
    """Sorts up to SIZE Gaussians of one tile by depth, then by gid."""
    lane = tl.arange(0, SIZE)
    sorted_keys = tl.sort(tl.load(keys + lane, lane < count, other=9223372036854775807))
    tl.store(out + lane, sorted_keys.to(tl.int32), lane < count)


@triton.jit
def rocm3d_sort_slots(slots, counters, gaussians, longest, SLOTS: tl.constexpr):
    """Sorts the slots of one tile; updates the length of the longest list."""
    tile = tl.program_id(0)
    count = tl.load(counters + tile)
    if count > 0:
        start = tile.to(tl.int64) * SLOTS
        _sort_by_depth(slots + start, gaussians + start, count, SLOTS)
        # Read before the atomic: of thousands of tiles few have the longest list so far.
        if count > tl.load(longest):
            tl.atomic_max(longest, count, sem="relaxed")


@triton.jit(do_not_specialize=["all_tiles"])
def rocm3d_begin_bins(counters, begins, longest_and_total, all_tiles, BLOCK: tl.constexpr):
    """Offset of each tile, by one program; then the length of the longest list and the number of pairs."""
    total = tl.full((), 0, tl.int32)
    longest = tl.full((), 0, tl.int32)
    tl.store(begins, 0)
    for start in range(0, all_tiles, BLOCK):
        tile = start + tl.arange(0, BLOCK)
        count = tl.load(counters + tile, tile < all_tiles, other=0)
        tl.store(begins + tile + 1, total + tl.cumsum(count, 0), tile < all_tiles)
        total += tl.sum(count, 0)
        longest = tl.maximum(longest, tl.max(count, 0))
    tl.store(longest_and_total, longest)
    tl.store(longest_and_total + 1, total)


@triton.jit
def rocm3d_sort_bins(keys, begins, gaussians, SIZE: tl.constexpr):
    """Sorts one tile of up to SIZE pairs; most have far fewer, so smaller sorts are tried first."""
    tile = tl.program_id(0)
    begin = tl.load(begins + tile)
    count = tl.load(begins + tile + 1) - begin
    if count > 0:
        if count <= SIZE // 4:
            _sort_by_depth(keys + begin, gaussians + begin, count, SIZE // 4)
        elif count <= SIZE // 2:
            _sort_by_depth(keys + begin, gaussians + begin, count, SIZE // 2)
        else:
            _sort_by_depth(keys + begin, gaussians + begin, count, SIZE)


@triton.jit(do_not_specialize=["all_tiles", "half", "pairs"])
def rocm3d_join_halves(
    tiles, gaussians, near, far, out, all_tiles, half, pairs, BLOCK: tl.constexpr,
):  # fmt: skip
    """Joins two halves that are sorted by tile (offsets near[t] and far[t]) into one list per tile, near first."""
    pair = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = pair < pairs
    tile = tl.load(tiles + pair, mask, other=0).to(tl.int32)
    # Pairs with the tile index all_tiles are in no list.
    mask = mask & (tile < all_tiles)
    begins = tl.load(near + tile, mask, other=0) + tl.load(far + tile, mask, other=0)
    is_far = pair >= half
    near_count = tl.load(near + tile + 1, mask & is_far, other=0) - tl.load(near + tile, mask & is_far, other=0)
    index = tl.where(
        is_far, pair - half - tl.load(far + tile, mask, other=0), pair - tl.load(near + tile, mask, other=0)
    )
    tl.store(out + begins + near_count + index, tl.load(gaussians + pair, mask, other=0), mask)
