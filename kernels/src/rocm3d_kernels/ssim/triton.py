"""Structural similarity as two Triton kernels, one for the mean and one for its gradient.

Shapes: image, target, result [N, C, H, W]; partial [programs], each program's share of the mean; the derivatives by
blurred image, blurred square and blurred product [N, C, 3, H, W]. All contiguous float32.

A program owns a strip of columns and walks down its rows. It blurs each row horizontally, with loads of which ten in
eleven hit the cache, and adds the weighted result to the eleven output rows whose window contains it. Ten of these rows
stay in registers as a ring that shifts by one for each row. Apart from the halo, each pixel is read from memory once.
There is no shared memory and no barrier, and nothing depends on the wave size.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from rocm3d_kernels.launching import PreparedLaunch
from rocm3d_kernels.ssim.reference import C1, C2, HALO, SIZE, WEIGHTS
from rocm3d_kernels.tuning import cached_until_override as remembered
from rocm3d_kernels.tuning import tuned

_C1, _C2 = tl.constexpr(C1), tl.constexpr(C2)
_SIZE, _HALO = tl.constexpr(SIZE), tl.constexpr(HALO)
# Triton's interpreter needs constants on the right of tensors, here and below.
_WEIGHTS = tl.constexpr(WEIGHTS)
_W0, _W1, _W2, _W3, _W4, _W5 = (tl.constexpr(value) for value in WEIGHTS[: HALO + 1])


@triton.jit
def _turned(ring, row):
    """Drops the finished output row, adds `row` to the unfinished ones and starts a new one."""
    return (
        ring[1] + row * _W1,
        ring[2] + row * _W2,
        ring[3] + row * _W3,
        ring[4] + row * _W4,
        ring[5] + row * _W5,
        ring[6] + row * _W4,
        ring[7] + row * _W3,
        ring[8] + row * _W2,
        ring[9] + row * _W1,
        row * _W0,
    )


@triton.jit
def _place(height, width, SEGMENT: tl.constexpr, BLOCK: tl.constexpr):
    """Plane, first row and columns of this program, and the number of programs per plane."""
    columns, rows = tl.cdiv(width, BLOCK), tl.cdiv(height, SEGMENT)
    program = tl.program_id(0)
    column = (program % columns) * BLOCK + tl.arange(0, BLOCK)
    first = (program // columns) % rows * SEGMENT
    return (program // (columns * rows)).to(tl.int64), first, column, columns * rows


# Few arguments, and none that the kernel can compute: on a small image the launch costs more than the work.
@triton.jit
def rocm3d_ssim_forward_kernel(
    image, target, partial, kept, height, width,
    KEEP: tl.constexpr, MARGIN: tl.constexpr, SEGMENT: tl.constexpr, BLOCK: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """This program's share of the mean and, with KEEP, three derivatives of each pixel.

    Pixels closer to the edge than MARGIN do not count.
    """
    number, first, column, programs = _place(height, width, SEGMENT, BLOCK)
    plane, size = number * (height * width), height * width
    counted = (tl.num_programs(0) // programs).to(tl.float32) * (height - 2 * MARGIN) * (width - 2 * MARGIN)
    scale = 1.0 / counted
    none = tl.zeros([BLOCK], tl.float32)
    ring = (none, none, none, none, none, none, none, none, none, none)
    mean_a, mean_b, square_a, square_b, product = ring, ring, ring, ring, ring
    total = none
    for step in range(0, SEGMENT + 2 * _HALO, UNROLL):
        for part in tl.static_range(UNROLL):
            row = first - _HALO + step + part
            # A row outside the picture has no columns.
            room = tl.where((row >= 0) & (row < height), width, 0) - column
            line = plane + row * width
            x_line, y_line = image + line + column, target + line + column
            a, b, aa, bb, ab = none, none, none, none, none
            for tap in tl.static_range(_SIZE):
                mask = (room > max(tap - _HALO, 0)) & (column >= _HALO - tap)
                x = tl.load(x_line + (tap - _HALO), mask=mask, other=0.0)
                y = tl.load(y_line + (tap - _HALO), mask=mask, other=0.0)
                wx, wy = x * _WEIGHTS[tap], y * _WEIGHTS[tap]
                a, b = a + wx, b + wy
                aa, bb, ab = aa + wx * x, bb + wy * y, ab + wx * y
            # This row is the last one in the window of the oldest output row, with the outermost weight.
            p, q = mean_a[0] + a * _W0, mean_b[0] + b * _W0
            pp, qq, pq = square_a[0] + aa * _W0, square_b[0] + bb * _W0, product[0] + ab * _W0
            mean_a, mean_b = _turned(mean_a, a), _turned(mean_b, b)
            square_a, square_b, product = _turned(square_a, aa), _turned(square_b, bb), _turned(product, ab)

            done = row - _HALO
            light, structure = 2 * p * q + _C1, 2 * (pq - p * q) + _C2
            below, spread = p * p + q * q + _C1, (pp - p * p) + (qq - q * q) + _C2
            whole = 1.0 / (below * spread)
            value = light * structure * whole
            end = tl.where((done >= first) & (done < tl.minimum(first + SEGMENT, height)), width, 0)
            inner_end = tl.where((done >= MARGIN) & (done < height - MARGIN), end - MARGIN, 0)
            inner = (column >= MARGIN) & (column < inner_end)
            total += tl.where(inner, value, 0.0)
            if KEEP:
                by_square, by_product = -value * below * whole, 2 * light * whole
                by_mean = 2 * (q * structure * whole - p * value * spread * whole - p * by_square) - q * by_product
                factor = tl.where(inner, scale, 0.0)
                to = kept + 3 * plane + done * width + column
                written = column < end
                tl.store(to, by_mean * factor, mask=written)
                tl.store(to + size, by_square * factor, mask=written)
                tl.store(to + 2 * size, by_product * factor, mask=written)
    tl.store(partial + tl.program_id(0), tl.sum(total) * scale)


@triton.jit
def rocm3d_ssim_gradient_kernel(
    image, target, kept, result, height, width,
    SEGMENT: tl.constexpr, BLOCK: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """The gradient by the image: the three derivative maps, blurred, combined with both images."""
    number, first, column, _ = _place(height, width, SEGMENT, BLOCK)
    plane, size = number * (height * width), height * width
    none = tl.zeros([BLOCK], tl.float32)
    ring = (none, none, none, none, none, none, none, none, none, none)
    mean, square, product = ring, ring, ring
    for step in range(0, SEGMENT + 2 * _HALO, UNROLL):
        for part in tl.static_range(UNROLL):
            row = first - _HALO + step + part
            # A row outside the picture has no columns.
            room = tl.where((row >= 0) & (row < height), width, 0) - column
            line = kept + 3 * plane + row * width + column
            a, aa, ab = none, none, none
            for tap in tl.static_range(_SIZE):
                mask = (room > max(tap - _HALO, 0)) & (column >= _HALO - tap)
                a += tl.load(line + (tap - _HALO), mask=mask, other=0.0) * _WEIGHTS[tap]
                aa += tl.load(line + size + (tap - _HALO), mask=mask, other=0.0) * _WEIGHTS[tap]
                ab += tl.load(line + 2 * size + (tap - _HALO), mask=mask, other=0.0) * _WEIGHTS[tap]
            p, pp, pq = mean[0] + a * _W0, square[0] + aa * _W0, product[0] + ab * _W0
            mean, square, product = _turned(mean, a), _turned(square, aa), _turned(product, ab)

            done = row - _HALO
            mine = column < tl.where((done >= first) & (done < tl.minimum(first + SEGMENT, height)), width, 0)
            at = plane + done * width + column
            x = tl.load(image + at, mask=mine, other=0.0)
            y = tl.load(target + at, mask=mine, other=0.0)
            tl.store(result + at, p + 2 * x * pp + y * pq, mask=mine)


def forward(image: torch.Tensor, target: torch.Tensor, *, valid: bool, keep: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean, and the three derivative maps (empty if not requested). Inputs are contiguous float32 [N, C, H, W]."""
    start, programs, maps = _forward(image.shape, image.device, valid, keep)
    partial, kept = image.new_empty(programs), image.new_empty(maps)
    start(image, target, partial, kept)
    return partial.sum(), kept


def gradient(image: torch.Tensor, target: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """The gradient of the mean by the image."""
    result = torch.empty_like(image)
    _gradient(image.shape, image.device)(image, target, kept, result)
    return result


@remembered
def _forward(shape: tuple[int, ...], device: torch.device, valid: bool, keep: bool) -> tuple[PreparedLaunch, int, Any]:
    """The prepared launch, its number of programs, and the shape of the derivative maps."""
    parameters = tuned("ssim", "ssim_forward_kernel", device)
    programs = _programs(shape, parameters)
    start = PreparedLaunch(
        rocm3d_ssim_forward_kernel, device, (programs, 1, 1), shape[2:],
        KEEP=keep, MARGIN=HALO if valid else 0, **parameters,
    )  # fmt: skip
    return start, programs, (*shape[:2], 3, *shape[2:]) if keep else 0


@remembered
def _gradient(shape: tuple[int, ...], device: torch.device) -> PreparedLaunch:
    parameters = tuned("ssim", "ssim_gradient_kernel", device)
    return PreparedLaunch(rocm3d_ssim_gradient_kernel, device, (_programs(shape, parameters), 1, 1), shape[2:], **parameters)


def _programs(shape: tuple[int, ...], parameters: dict[str, int]) -> int:
    batch, channels, height, width = shape
    return batch * channels * -(-height // parameters["SEGMENT"]) * -(-width // parameters["BLOCK"])
