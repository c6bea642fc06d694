"""curope: `rope_2d(tokens, positions, base, F0)` rotates tokens [B, N, H, D] in place; -F0 is the inverse."""

from __future__ import annotations

import torch

from rocm3d_kernels.rope2d import rotate_

__all__ = ["rope_2d"]


def rope_2d(tokens: torch.Tensor, positions: torch.Tensor, base: float, fwd: float) -> None:
    """In place, for any strides. Not differentiable, like the original extension."""
    with torch.no_grad():
        rotate_(tokens, positions, base, fwd)
