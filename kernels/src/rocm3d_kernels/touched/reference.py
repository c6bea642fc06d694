"""Touched pixels of each Gaussian in plain PyTorch, one row of pixels at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.image_formation import SMALLEST_ALPHA

if TYPE_CHECKING:
    from rocm3d_kernels.touched import ImageGaussians

HALF = 0.5


def touched_pixels(gaussians: ImageGaussians, width: int, height: int, cap: float) -> torch.Tensor:
    """[images, N], int32."""
    totals = torch.zeros(gaussians.opacities.shape, dtype=torch.int32, device=gaussians.opacities.device)
    for image, (means2d, conics, opacities, depths, radii) in enumerate(zip(*gaussians, strict=True)):
        order = torch.argsort(depths, stable=True)
        order = order[(radii[order] > 0).all(dim=-1)]
        x = torch.arange(width, dtype=means2d.dtype, device=means2d.device)[:, None] + 0.5
        dx = means2d[order, 0] - x  # [width, visible]
        a, b, c = conics[order].unbind(-1)
        for line in range(height):
            dy = means2d[order, 1] - (line + 0.5)
            sigma = 0.5 * (a * dx**2 + c * dy**2) + b * dx * dy
            alpha = (opacities[order] * torch.exp(-sigma)).clamp_max(cap)
            alpha = torch.where((sigma >= 0) & (alpha >= SMALLEST_ALPHA), alpha, torch.zeros_like(alpha))
            touched = (alpha > 0) & (torch.cumprod(1.0 - alpha, dim=-1) > HALF)
            totals[image, order] += touched.sum(dim=0).int()
    return totals
