"""gsplat.rasterization_2dgs with gsplat's signature; arguments that are not covered raise an error."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels import surfels
from rocm3d_kernels.arguments import check_tensors
from rocm3d_kernels.dropin.declaration import DOCS
from rocm3d_kernels.surfels.normals import from_depth

__all__ = ["rasterization_2dgs"]

WITH_DEPTHS = ("D", "ED", "RGB+D", "RGB+ED")


def rasterization_2dgs(
    means: torch.Tensor,
    quats: torch.Tensor,
    scales: torch.Tensor,
    opacities: torch.Tensor,
    colors: torch.Tensor,
    viewmats: torch.Tensor,
    Ks: torch.Tensor,
    width: int,
    height: int,
    near_plane: float = 0.01,
    far_plane: float = 1e10,
    radius_clip: float = 0.0,
    eps2d: float = 0.3,  # noqa: ARG001  (ignored: surfels have their own minimum width)
    sh_degree: int | None = None,
    packed: bool = False,
    tile_size: int = 16,  # noqa: ARG001  (ignored: the kernel chooses)
    backgrounds: torch.Tensor | None = None,
    render_mode: str = "RGB",
    sparse_grad: bool = False,
    absgrad: bool = False,
    distloss: bool = False,
    depth_mode: str = "expected",
) -> tuple[Any, ...]:
    """Colours, alphas, normals, normals from depth (or None), distortion, median depth, and meta.

    The distortion is always that of the depths. After backward, `meta["gradient_2dgs"].grad` is the gradient of the
    projected centres.
    """
    for name, value in (("packed", packed), ("sparse_grad", sparse_grad), ("absgrad", absgrad)):
        if value:
            raise NotImplementedError(f"{name} of rasterization_2dgs is not covered by rocm3d-kernels: see {DOCS}")
    if depth_mode not in ("expected", "median"):
        raise ValueError(f"depth_mode is {depth_mode!r}; choose expected or median")
    if distloss and (not isinstance(render_mode, str) or render_mode not in WITH_DEPTHS):
        raise ValueError(f"distloss needs depths, but render_mode is {render_mode!r}; choose {', '.join(WITH_DEPTHS)}")
    check_tensors("rasterization_2dgs", {"means": means, "viewmats": viewmats})
    if means.dim() < 2 or viewmats.dim() < 3 or not means.is_floating_point():
        raise ValueError(
            f"rasterization_2dgs: means must be float32 [..., N, 3] and viewmats [..., C, 4, 4], not {means.dtype} "
            f"{tuple(means.shape)} and {tuple(viewmats.shape)}"
        )
    shape = (*viewmats.shape[:-2], means.shape[-2], 2)
    means2d = torch.zeros(shape, dtype=means.dtype, device=means.device, requires_grad=True)
    surface = surfels.rasterization(
        means, quats, scales, opacities, colors, viewmats, Ks, width, height,
        near_plane=near_plane, far_plane=far_plane, radius_clip=radius_clip, sh_degree=sh_degree,
        backgrounds=backgrounds, render_mode=render_mode, watched=means2d,
    )  # fmt: skip
    depth_normals = None
    if render_mode in ("RGB+D", "RGB+ED"):
        depth = surface.median if depth_mode == "median" else surface.image[..., -1:]
        # For one camera the original drops the first dimension.
        depth_normals = from_depth(depth, viewmats, Ks).squeeze(0)
    meta = surface.meta
    meta["render_distort"] = surface.distortion
    meta["gradient_2dgs"] = means2d
    return surface.image, surface.alphas, surface.normals, depth_normals, surface.distortion, surface.median, meta
