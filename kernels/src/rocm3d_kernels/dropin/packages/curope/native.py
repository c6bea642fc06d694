"""curope: `rope_2d(tokens, positions, base, F0)` turns tokens [B, N, H, D] in place; the way back has -F0."""

from __future__ import annotations

import torch

from rocm3d_kernels.rope2d import rotate_

__all__ = ["rope_2d"]


def rope_2d(tokens: torch.Tensor, positions: torch.Tensor, base: float, fwd: float) -> None:
    """In place, whatever the strides. Without a gradient of its own, as the extension."""
    with torch.no_grad():
        rotate_(tokens, positions, base, fwd)
