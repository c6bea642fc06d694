"""Drop-in for diff-gaussian-rasterization of 3D Gaussian splatting: settings and a rasterizer module."""

from __future__ import annotations

from rocm3d_kernels.dropin.declaration import DropIn

DROP_IN = DropIn(
    name="diff_gaussian_rasterization",
    modules={"diff_gaussian_rasterization": "package"},
    probe_code="import torch, diff_gaussian_rasterization; assert diff_gaussian_rasterization._C.rasterize_gaussians",
    distribution="diff-gaussian-rasterization",
)
