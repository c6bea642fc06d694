"""gsplat: the covered names of its top-level module."""

from __future__ import annotations

from rocm3d_kernels.dropin.packages.gsplat.optimizers import SelectiveAdam
from rocm3d_kernels.dropin.packages.gsplat.rendering import rasterization, rasterization_2dgs
from rocm3d_kernels.dropin.packages.gsplat.wrapper import (
    fully_fused_projection,
    isect_offset_encode,
    isect_tiles,
    quat_scale_to_covar_preci,
    rasterize_to_pixels,
    spherical_harmonics,
)

__all__ = [
    "SelectiveAdam",
    "fully_fused_projection",
    "isect_offset_encode",
    "isect_tiles",
    "quat_scale_to_covar_preci",
    "rasterization",
    "rasterization_2dgs",
    "rasterize_to_pixels",
    "spherical_harmonics",
]
