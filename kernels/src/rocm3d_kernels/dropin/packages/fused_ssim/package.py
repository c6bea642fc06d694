"""fused_ssim: `fused_ssim(img1, img2, padding="same", train=True)`; only the first image gets a gradient."""

from __future__ import annotations

import torch

from rocm3d_kernels.arguments import check_tensors
from rocm3d_kernels.ssim import PADDINGS, ssim

__all__ = ["allowed_padding", "fused_ssim", "is_3D_supported"]

allowed_padding = list(PADDINGS)
is_3D_supported = False  # noqa: N816


def fused_ssim(img1: torch.Tensor, img2: torch.Tensor, padding: str = "same", train: bool = True) -> torch.Tensor:
    """The mean SSIM of two batches [N, C, H, W]."""
    check_tensors("fused_ssim", {"img1": img1, "img2": img2})
    return ssim(img1, img2.detach(), padding, train=train)
