"""Exact nearest neighbours: points sorted along a Hilbert curve, in boxes that are skipped if they are too far.

Shapes: points [N, 3]; knots [3, 4096], a sorted sample of each axis; keys [N]; sorted_points [3, size], padded with
infinity to whole boxes; order [N], original index of each sorted point; lower, upper [3, boxes]; group_lower,
group_upper [3, groups]; result [N].

Coordinates on the curve are ranks in the sample, so outliers and clusters cost little. Neighbours on the curve are
close in space, so consecutive points have small boxes and consecutive boxes small groups. One program owns one box:
each lane holds the three best distances of its point, and the candidates of a box go to all lanes one at a time.
Nothing depends on the wave size. Curve: J. Skilling, Programming the Hilbert curve, 2004.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from rocm3d_kernels.tuning import tuned

KNOT_BITS, BITS = 12, 16
_KNOT_BITS, _BITS = tl.constexpr(KNOT_BITS), tl.constexpr(BITS)
_KNOTS, _PARTS, _TOP = tl.constexpr(1 << KNOT_BITS), tl.constexpr(1 << (BITS - KNOT_BITS)), tl.constexpr(1 << BITS)
_CURVE_END = tl.constexpr(1 << (3 * BITS))
_NONE = tl.constexpr(2**31 - 1)


@triton.jit
def _rank_in_sample(knots, value, BLOCK: tl.constexpr):
    """Rank of a coordinate in the sorted sample, interpolated, as an integer of _BITS bits."""
    low = tl.zeros([BLOCK], tl.int32)
    step = tl.program_id(0) * 0 + _KNOTS // 2
    for _ in range(_KNOT_BITS):
        low = tl.where(tl.load(knots + low + step) <= value, low + step, low)
        step = step // 2
    left = tl.load(knots + low)
    right = tl.load(knots + tl.minimum(low + 1, _KNOTS - 1))
    fraction = tl.where(right > left, (value - left) / (right - left), 0.0)
    fraction = tl.minimum(tl.maximum(fraction, 0.0), 0.999)
    return low * _PARTS + (fraction * _PARTS).to(tl.int32)


@triton.jit
def _skilling_step(x, y, bit, low):
    """One step of Skilling's transform: inverts the low bits of `x` if `y` has `bit`, else swaps them with `y`."""
    swapped = (x ^ y) & low
    is_set = (y & bit) != 0
    return tl.where(is_set, x ^ low, x ^ swapped), tl.where(is_set, y, y ^ swapped)


@triton.jit
def rocm3d_curve_kernel(points, knots, keys, count, BLOCK: tl.constexpr):
    """Position of each point on the curve; points that are not finite come last."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    px = tl.load(points + 3 * index, mask=inside, other=0.0)
    py = tl.load(points + 3 * index + 1, mask=inside, other=0.0)
    pz = tl.load(points + 3 * index + 2, mask=inside, other=0.0)
    x = _rank_in_sample(knots, px, BLOCK)
    y = _rank_in_sample(knots + _KNOTS, py, BLOCK)
    z = _rank_in_sample(knots + 2 * _KNOTS, pz, BLOCK)
    # Loops that are not unrolled: the kernel runs microseconds, and unrolled code would compile for seconds.
    bit = tl.program_id(0) * 0 + _TOP // 2
    for _ in range(_BITS - 1):
        low = bit - 1
        x = tl.where((x & bit) != 0, x ^ low, x)
        x, y = _skilling_step(x, y, bit, low)
        x, z = _skilling_step(x, z, bit, low)
        bit = bit // 2
    y ^= x
    z ^= y
    turn = tl.zeros([BLOCK], tl.int32)
    bit = tl.program_id(0) * 0 + _TOP // 2
    for _ in range(_BITS - 1):
        turn = tl.where((z & bit) != 0, turn ^ (bit - 1), turn)
        bit = bit // 2
    x, y, z = x ^ turn, y ^ turn, z ^ turn
    key = tl.zeros([BLOCK], tl.int64)
    for step in range(_BITS):
        shift = _BITS - 1 - step
        octal_digit = (((x >> shift) & 1) << 2) | (((y >> shift) & 1) << 1) | ((z >> shift) & 1)
        key = (key << 3) | octal_digit.to(tl.int64)
    finite = (px - px == 0.0) & (py - py == 0.0) & (pz - pz == 0.0)
    tl.store(keys + index, tl.where(finite, key, _CURVE_END), mask=inside)


@triton.jit
def _scan_box(sorted_points, size, box, own, x, y, z, best, second, third, BOX: tl.constexpr, UNROLL: tl.constexpr):
    """The three best squared distances after scanning all points of a box; a point is not its own neighbour."""
    for begin in range(0, BOX, UNROLL):
        for part in tl.static_range(UNROLL):
            candidate = box * BOX + begin + part
            dx = x - tl.load(sorted_points + candidate)
            dy = y - tl.load(sorted_points + size + candidate)
            dz = z - tl.load(sorted_points + 2 * size + candidate)
            square = tl.where(own == candidate, float("inf"), dx * dx + dy * dy + dz * dz)
            worse = tl.maximum(best, square)
            best = tl.minimum(best, square)
            worst = tl.maximum(second, worse)
            second = tl.minimum(second, worse)
            third = tl.minimum(third, worst)
    return best, second, third


@triton.jit
def _box_distance(lower, upper, index, limit, length, x0, x1, y0, y1, z0, z1):
    """Squared distance from this program's box to other boxes; infinite for indices past the end."""
    inside = index < limit
    inf = float("inf")
    dx = tl.maximum(
        tl.load(lower + index, mask=inside, other=inf) - x1, x0 - tl.load(upper + index, mask=inside, other=-inf)
    )
    lower, upper = lower + length, upper + length
    dy = tl.maximum(
        tl.load(lower + index, mask=inside, other=inf) - y1, y0 - tl.load(upper + index, mask=inside, other=-inf)
    )
    lower, upper = lower + length, upper + length
    dz = tl.maximum(
        tl.load(lower + index, mask=inside, other=inf) - z1, z0 - tl.load(upper + index, mask=inside, other=-inf)
    )
    dx, dy, dz = tl.maximum(dx, 0.0), tl.maximum(dy, 0.0), tl.maximum(dz, 0.0)
    return dx * dx + dy * dy + dz * dz


@triton.jit
def rocm3d_search_kernel(
    sorted_points, order, finite_count, lower, upper, group_lower, group_upper, result, count, size, boxes, groups,
    BOX: tl.constexpr, GROUP: tl.constexpr, CHUNK: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """Mean squared distance of the points of one box to their three nearest neighbours."""
    own_box = tl.program_id(0)
    inf = float("inf")
    own = own_box * BOX + tl.arange(0, BOX)
    x, y, z = tl.load(sorted_points + own), tl.load(sorted_points + size + own), tl.load(sorted_points + 2 * size + own)
    finite = x < inf
    best = tl.full([BOX], inf, tl.float32)
    second, third = best, best
    # The own box and its neighbours on the curve come first: after them most other boxes are too far.
    for box in range(tl.maximum(own_box - 1, 0), tl.minimum(own_box + 2, boxes)):
        best, second, third = _scan_box(sorted_points, size, box, own, x, y, z, best, second, third, BOX, UNROLL)
    reach = tl.max(tl.where(finite, third, -1.0))
    x0, x1 = tl.load(lower + own_box), tl.load(upper + own_box)
    y0, y1 = tl.load(lower + boxes + own_box), tl.load(upper + boxes + own_box)
    z0, z1 = tl.load(lower + 2 * boxes + own_box), tl.load(upper + 2 * boxes + own_box)
    for chunk in range(0, groups, CHUNK):
        index = chunk + tl.arange(0, CHUNK)
        group_gap = _box_distance(group_lower, group_upper, index, groups, groups, x0, x1, y0, y1, z0, z1)
        group = tl.min(tl.where(group_gap < reach, index, _NONE))
        while group < _NONE:
            member = group * GROUP + tl.arange(0, GROUP)
            box_gap = _box_distance(lower, upper, member, boxes, boxes, x0, x1, y0, y1, z0, z1)
            box_gap = tl.where((member >= own_box - 1) & (member <= own_box + 1), inf, box_gap)
            box = tl.min(tl.where(box_gap < reach, member, _NONE))
            while box < _NONE:
                bx = tl.maximum(tl.maximum(tl.load(lower + box) - x, x - tl.load(upper + box)), 0.0)
                by = tl.maximum(tl.maximum(tl.load(lower + boxes + box) - y, y - tl.load(upper + boxes + box)), 0.0)
                bz = tl.maximum(tl.load(lower + 2 * boxes + box) - z, z - tl.load(upper + 2 * boxes + box))
                bz = tl.maximum(bz, 0.0)
                # The box must be close enough to one of the points, not only to their bounding box.
                if tl.max(tl.where(finite, third - (bx * bx + by * by + bz * bz), -1.0)) > 0.0:
                    best, second, third = _scan_box(
                        sorted_points, size, box, own, x, y, z, best, second, third, BOX, UNROLL
                    )
                    reach = tl.max(tl.where(finite, third, -1.0))
                box = tl.min(tl.where((box_gap < reach) & (member > box), member, _NONE))
            group = tl.min(tl.where((group_gap < reach) & (index > group), index, _NONE))
    neighbours = tl.load(finite_count) - 1
    total = best + tl.where(neighbours > 1, second, 0.0) + tl.where(neighbours > 2, third, 0.0)
    mean = total / tl.minimum(neighbours, 3).to(tl.float32)
    mean = tl.where(finite & (neighbours > 0), mean, float("nan"))
    inside = own < count
    tl.store(result + tl.load(order + own, mask=inside, other=0), mean, mask=inside)


def mean_squared_distance(points: torch.Tensor) -> torch.Tensor:
    """[N, 3] contiguous float32 on one GPU -> [N]."""
    parameters = tuned("knn", "search_kernel", points.device)
    count, box, group = len(points), parameters["BOX"], parameters["GROUP"]
    finite = torch.isfinite(points).all(dim=1)
    order = torch.sort(_curve_keys(points, finite)).indices
    boxes = triton.cdiv(count, box)
    groups, size = triton.cdiv(boxes, group), boxes * box
    # Padding and points that are not finite are at infinity.
    padded = torch.full((3, size), torch.inf, dtype=torch.float32, device=points.device)
    padded[:, :count] = torch.where(finite[:, None], points, torch.inf)[order].T
    lower, upper = _bounds(padded, torch.where(torch.isinf(padded), -torch.inf, padded), box)
    group_lower, group_upper = _bounds(
        _pad_with_infinity(lower, groups * group), -_pad_with_infinity(-upper, groups * group), group
    )
    result = torch.empty(count, dtype=torch.float32, device=points.device)
    rocm3d_search_kernel[(boxes,)](
        padded,
        order,
        finite.sum(),
        lower,
        upper,
        group_lower,
        group_upper,
        result,
        count,
        size,
        boxes,
        groups,
        **parameters,
    )
    return result


def _curve_keys(points: torch.Tensor, finite: torch.Tensor) -> torch.Tensor:
    knot_count = 1 << KNOT_BITS
    sample_indices = torch.arange(knot_count, device=points.device) * len(points) // knot_count
    sample = torch.where(finite[:, None], points, 0.0)[sample_indices].T.contiguous().sort(dim=1).values
    keys = torch.empty(len(points), dtype=torch.int64, device=points.device)
    parameters = tuned("knn", "curve_kernel", points.device)
    grid = (triton.cdiv(len(points), parameters["BLOCK"]),)
    rocm3d_curve_kernel[grid](points, sample, keys, len(points), **parameters)
    return keys


def _bounds(low: torch.Tensor, high: torch.Tensor, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Minimum and maximum of each run of `length` columns, [3, runs]."""
    shape = (3, -1, length)
    return low.reshape(shape).amin(dim=2).contiguous(), high.reshape(shape).amax(dim=2).contiguous()


def _pad_with_infinity(values: torch.Tensor, length: int) -> torch.Tensor:
    """Pads the columns to `length` with infinity."""
    return torch.nn.functional.pad(values, (0, length - values.shape[1]), value=torch.inf)
