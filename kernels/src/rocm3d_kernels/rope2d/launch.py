"""Starts the kernel of RoPE2D."""

from __future__ import annotations

import functools
import math

import torch

from rocm3d_kernels.launching import launch
from rocm3d_kernels.rope2d.reference import frequencies
from rocm3d_kernels.rope2d.triton import rocm3d_rope2d_kernel
from rocm3d_kernels.tuning import tuned

ALIGNED = 16  # bytes of the widest load


@functools.lru_cache(maxsize=64)
def _frequencies(base: float, scale: float, quarter: int, device: torch.device) -> torch.Tensor:
    """In turns, each as a float32 and what that leaves over. Kept: a copy to the device would hold each call up."""
    turns = frequencies(base, scale, quarter) / (2 * math.pi)
    high = turns.float()
    with torch.inference_mode(mode=False):
        return torch.stack((high, (turns - high.double()).float())).to(device)


def rotate_(tokens: torch.Tensor, positions: torch.Tensor, base: float, scale: float) -> None:
    """Checked tokens [B, N, H, D], none of them empty, in place."""
    batch, count, heads, size = tokens.shape
    quarter, device = size // 4, tokens.device
    strides = tokens.stride()
    wide = _wide(strides, tokens.data_ptr(), tokens.element_size())
    parameters = tuned("rope2d", "rope2d_kernel", device)
    block, per_token, per_head = _tile(parameters["TILE"], heads, quarter)
    # The way back turns by the same angles the other way; there is one table for both.
    table = _frequencies(base, abs(scale), quarter, device)
    launch(
        rocm3d_rope2d_kernel, (batch * -(-count // per_token), -(-heads // per_head), 1),
        (
            tokens, positions, table, count, heads, strides[0] // wide, strides[1] // wide, strides[2] // wide,
            strides[3], *positions.stride(), -1.0 if scale < 0 else 1.0,
        ),
        QUARTER=quarter, QUARTER_BLOCK=block, PLAIN=strides[3] == 1, WIDE=wide, HEADS=per_head, **parameters,
    )  # fmt: skip


@functools.cache
def _tile(tile: int, heads: int, quarter: int) -> tuple[int, int, int]:
    """Frequencies, tokens and heads of a program that has `tile` numbers of each quarter."""
    block = 1 << (quarter - 1).bit_length()
    per_head = min(1 << (heads - 1).bit_length(), max(1, tile // block))
    return block, max(tile // (block * per_head), 1), per_head


def _wide(strides: tuple[int, ...], address: int, size: int) -> int:
    """Numbers that every row begins at a multiple of, a power of two of at most 16 bytes."""
    every = address // size | strides[0] | strides[1] | strides[2] | ALIGNED // size
    return every & -every
