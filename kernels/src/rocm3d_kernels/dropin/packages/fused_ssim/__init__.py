"""Drop-in for fused-ssim: SSIM of images. Its variant for volumes is not covered."""

from __future__ import annotations

from rocm3d_kernels.dropin.declaration import DropIn

DROP_IN = DropIn(
    name="fused_ssim",
    modules={"fused_ssim": "package"},
    probe_code="import torch, fused_ssim; assert callable(fused_ssim.fused_ssim) and fused_ssim.fusedssim",
    distribution="fused-ssim",
)
