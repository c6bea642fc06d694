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
from rocm3d_kernels.tuning import cached_until_override, tuned

_C1, _C2 = tl.constexpr(C1), tl.constexpr(C2)
_SIZE, _HALO = tl.constexpr(SIZE), tl.constexpr(HALO)
# Triton's interpreter needs constants on the right of tensors, here and below.
_WEIGHTS = tl.constexpr(WEIGHTS)
_W0, _W1, _W2, _W3, _W4, _W5 = (tl.constexpr(value) for value in WEIGHTS[: HALO + 1])


@triton.jit
def _shift_ring(ring, row):
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
def _program_tile(height, width, SEGMENT: tl.constexpr, BLOCK: tl.constexpr):
    """Plane, first row and columns of this program, and the number of programs per plane."""
    columns, rows = tl.cdiv(width, BLOCK), tl.cdiv(height, SEGMENT)
    program = tl.program_id(0)
    column = (program % columns) * BLOCK + tl.arange(0, BLOCK)
    first = (program // columns) % rows * SEGMENT
    return (program // (columns * rows)).to(tl.int64), first, column, columns * rows


# Few arguments, and none that the kernel can compute: on a small image the launch costs more than the work.
@triton.jit
def rocm3d_ssim_forward_kernel(
    image, target, partial, derivatives, height, width,
    KEEP: tl.constexpr, MARGIN: tl.constexpr, SEGMENT: tl.constexpr, BLOCK: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """This program's share of the mean and, with KEEP, three derivatives of each pixel.

    Pixels closer to the edge than MARGIN do not count.
    """
    plane_index, first, column, programs = _program_tile(height, width, SEGMENT, BLOCK)
    plane, size = plane_index * (height * width), height * width
    counted = (tl.num_programs(0) // programs).to(tl.float32) * (height - 2 * MARGIN) * (width - 2 * MARGIN)
    scale = 1.0 / counted
    zeros = tl.zeros([BLOCK], tl.float32)
    ring = (zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros)
    mean_a, mean_b, square_a, square_b, product = ring, ring, ring, ring, ring
    total = zeros
    for step in range(0, SEGMENT + 2 * _HALO, UNROLL):
        for part in tl.static_range(UNROLL):
            row = first - _HALO + step + part
            # A row outside the picture has no columns.
            columns_left = tl.where((row >= 0) & (row < height), width, 0) - column
            line = plane + row * width
            x_line, y_line = image + line + column, target + line + column
            a, b, aa, bb, ab = zeros, zeros, zeros, zeros, zeros
            for tap in tl.static_range(_SIZE):
                mask = (columns_left > max(tap - _HALO, 0)) & (column >= _HALO - tap)
                x = tl.load(x_line + (tap - _HALO), mask=mask, other=0.0)
                y = tl.load(y_line + (tap - _HALO), mask=mask, other=0.0)
                wx, wy = x * _WEIGHTS[tap], y * _WEIGHTS[tap]
                a, b = a + wx, b + wy
                aa, bb, ab = aa + wx * x, bb + wy * y, ab + wx * y
            # This row is the last one in the window of the oldest output row, with the outermost weight.
            p, q = mean_a[0] + a * _W0, mean_b[0] + b * _W0
            pp, qq, pq = square_a[0] + aa * _W0, square_b[0] + bb * _W0, product[0] + ab * _W0
            mean_a, mean_b = _shift_ring(mean_a, a), _shift_ring(mean_b, b)
            square_a, square_b, product = _shift_ring(square_a, aa), _shift_ring(square_b, bb), _shift_ring(product, ab)

            output_row = row - _HALO
            luminance, structure = 2 * p * q + _C1, 2 * (pq - p * q) + _C2
            mean_squares, variances = p * p + q * q + _C1, (pp - p * p) + (qq - q * q) + _C2
            inverse = 1.0 / (mean_squares * variances)
            value = luminance * structure * inverse
            end = tl.where((output_row >= first) & (output_row < tl.minimum(first + SEGMENT, height)), width, 0)
            inner_end = tl.where((output_row >= MARGIN) & (output_row < height - MARGIN), end - MARGIN, 0)
            inner = (column >= MARGIN) & (column < inner_end)
            total += tl.where(inner, value, 0.0)
            if KEEP:
                by_square, by_product = -value * mean_squares * inverse, 2 * luminance * inverse
                by_mean = (
                    2 * (q * structure * inverse - p * value * variances * inverse - p * by_square) - q * by_product
                )
                factor = tl.where(inner, scale, 0.0)
                pointers = derivatives + 3 * plane + output_row * width + column
                row_mask = column < end
                tl.store(pointers, by_mean * factor, mask=row_mask)
                tl.store(pointers + size, by_square * factor, mask=row_mask)
                tl.store(pointers + 2 * size, by_product * factor, mask=row_mask)
    tl.store(partial + tl.program_id(0), tl.sum(total) * scale)


@triton.jit
def rocm3d_ssim_gradient_kernel(
    image, target, derivatives, result, height, width,
    SEGMENT: tl.constexpr, BLOCK: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """The gradient by the image: the three derivative maps, blurred, combined with both images."""
    plane_index, first, column, _ = _program_tile(height, width, SEGMENT, BLOCK)
    plane, size = plane_index * (height * width), height * width
    zeros = tl.zeros([BLOCK], tl.float32)
    ring = (zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros)
    mean, square, product = ring, ring, ring
    for step in range(0, SEGMENT + 2 * _HALO, UNROLL):
        for part in tl.static_range(UNROLL):
            row = first - _HALO + step + part
            # A row outside the picture has no columns.
            columns_left = tl.where((row >= 0) & (row < height), width, 0) - column
            line = derivatives + 3 * plane + row * width + column
            a, aa, ab = zeros, zeros, zeros
            for tap in tl.static_range(_SIZE):
                mask = (columns_left > max(tap - _HALO, 0)) & (column >= _HALO - tap)
                a += tl.load(line + (tap - _HALO), mask=mask, other=0.0) * _WEIGHTS[tap]
                aa += tl.load(line + size + (tap - _HALO), mask=mask, other=0.0) * _WEIGHTS[tap]
                ab += tl.load(line + 2 * size + (tap - _HALO), mask=mask, other=0.0) * _WEIGHTS[tap]
            p, pp, pq = mean[0] + a * _W0, square[0] + aa * _W0, product[0] + ab * _W0
            mean, square, product = _shift_ring(mean, a), _shift_ring(square, aa), _shift_ring(product, ab)

            output_row = row - _HALO
            row_mask = column < tl.where(
                (output_row >= first) & (output_row < tl.minimum(first + SEGMENT, height)), width, 0
            )
            index = plane + output_row * width + column
            x = tl.load(image + index, mask=row_mask, other=0.0)
            y = tl.load(target + index, mask=row_mask, other=0.0)
            tl.store(result + index, p + 2 * x * pp + y * pq, mask=row_mask)


def forward(
    image: torch.Tensor, target: torch.Tensor, *, valid: bool, with_derivatives: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean, and the three derivative maps (empty if not requested). Inputs are contiguous float32 [N, C, H, W]."""
    prepared, programs, derivatives_shape = _prepared_forward(image.shape, image.device, valid, with_derivatives)
    partial, derivatives = image.new_empty(programs), image.new_empty(derivatives_shape)
    prepared(image, target, partial, derivatives)
    return partial.sum(), derivatives


def gradient(image: torch.Tensor, target: torch.Tensor, derivatives: torch.Tensor) -> torch.Tensor:
    """The gradient of the mean by the image."""
    result = torch.empty_like(image)
    _prepared_gradient(image.shape, image.device)(image, target, derivatives, result)
    return result


@cached_until_override
def _prepared_forward(
    shape: tuple[int, ...], device: torch.device, valid: bool, with_derivatives: bool
) -> tuple[PreparedLaunch, int, Any]:
    """The prepared launch, its number of programs, and the shape of the derivative maps."""
    parameters = tuned("ssim", "ssim_forward_kernel", device)
    programs = _program_count(shape, parameters)
    prepared = PreparedLaunch(
        rocm3d_ssim_forward_kernel, device, (programs, 1, 1), shape[2:],
        KEEP=with_derivatives, MARGIN=HALO if valid else 0, **parameters,
    )  # fmt: skip
    return prepared, programs, (*shape[:2], 3, *shape[2:]) if with_derivatives else 0


@cached_until_override
def _prepared_gradient(shape: tuple[int, ...], device: torch.device) -> PreparedLaunch:
    parameters = tuned("ssim", "ssim_gradient_kernel", device)
    return PreparedLaunch(
        rocm3d_ssim_gradient_kernel, device, (_program_count(shape, parameters), 1, 1), shape[2:], **parameters
    )


def _program_count(shape: tuple[int, ...], parameters: dict[str, int]) -> int:
    batch, channels, height, width = shape
    return batch * channels * -(-height // parameters["SEGMENT"]) * -(-width // parameters["BLOCK"])
