"""Launches the RoPE2D kernel."""

from __future__ import annotations

import functools
import math

import torch

from rocm3d_kernels.launching import PreparedLaunch
from rocm3d_kernels.rope2d.reference import frequencies
from rocm3d_kernels.rope2d.triton import rocm3d_rope2d_kernel
from rocm3d_kernels.tuning import cached_until_override, tuned

MAX_LOAD_BYTES = 16  # bytes of the widest load
MAX_STEPS = 4


@functools.lru_cache(maxsize=64)
def _frequencies(base: float, scale: float, quarter: int, device: torch.device) -> torch.Tensor:
    """[2, quarter]: frequencies in turns as float32, and their rounding remainders. Cached to save a copy per call."""
    turns = frequencies(base, scale, quarter) / (2 * math.pi)
    high = turns.float()
    with torch.inference_mode(mode=False):
        return torch.stack((high, (turns - high.double()).float())).to(device)


def rotate_(tokens: torch.Tensor, positions: torch.Tensor, base: float, scale: float) -> None:
    """Rotates validated, non-empty tokens [B, N, H, D] in place."""
    shape, strides, device = tokens.shape, tokens.stride(), tokens.device
    unit = _common_alignment(strides, tokens.data_ptr(), tokens.element_size())
    prepared = _prepared_launch(
        shape, strides, positions.stride(), unit, scale < 0, device, tokens.dtype, positions.dtype
    )
    # The inverse uses the same angles with the opposite sign, so one table serves both.
    prepared(tokens, positions, _frequencies(base, abs(scale), shape[3] // 4, device))


@cached_until_override
def _prepared_launch(
    shape: torch.Size,
    strides: tuple[int, ...],
    position_strides: tuple[int, ...],
    unit: int,
    inverse: bool,
    device: torch.device,
    *_dtypes: torch.dtype,
) -> PreparedLaunch:
    batch, count, heads, size = shape
    parameters = tuned("rope2d", "rope2d_kernel", device)
    block, per_token, per_head, steps = _tile_shape(parameters["TILE"], heads, size // 4)
    grid = (batch * -(-count // per_token), -(-heads // (per_head * steps)), 1)
    numbers = (
        count, heads, strides[0] // unit, strides[1] // unit, strides[2] // unit, strides[3], *position_strides,
        -1.0 if inverse else 1.0,
    )  # fmt: skip
    return PreparedLaunch(
        rocm3d_rope2d_kernel, device, grid, numbers,
        QUARTER=size // 4, QUARTER_BLOCK=block, PLAIN=strides[3] == 1, WIDE=unit, HEADS=per_head, STEPS=steps,
        **parameters,
    )  # fmt: skip


def _tile_shape(tile: int, heads: int, quarter: int) -> tuple[int, int, int, int]:
    """Frequencies, tokens and heads of a program with `tile` elements of each quarter, and its steps over the heads."""
    block = 1 << (quarter - 1).bit_length()
    per_head = min(1 << (heads - 1).bit_length(), max(1, tile // block))
    # Twelve heads run as three steps of four, not as one step of sixteen with four idle.
    heads_per_step = min(heads & -heads, per_head)
    steps = heads // heads_per_step
    if steps > MAX_STEPS:
        heads_per_step, steps = per_head, 1
    return block, max(tile // (block * heads_per_step), 1), heads_per_step, steps


def _common_alignment(strides: tuple[int, ...], address: int, size: int) -> int:
    """Largest power of two, in elements and at most 16 bytes, that divides the start of every row."""
    combined = address // size | strides[0] | strides[1] | strides[2] | MAX_LOAD_BYTES // size
    return combined & -combined
