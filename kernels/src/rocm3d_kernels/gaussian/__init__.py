"""Renders 3D Gaussians: projection, colours, tile lists and rasterization in one differentiable call."""

from __future__ import annotations

import math
from typing import Any

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.arguments import check_tensors  # noqa: E402
from rocm3d_kernels.gaussian.arguments import MODES, camera_numbers, check_arguments, contiguous  # noqa: E402
from rocm3d_kernels.gaussian.options import RenderOptions  # noqa: E402
from rocm3d_kernels.gaussian.render_dispatch import rasterize  # noqa: E402
from rocm3d_kernels.projection import CameraSettings, Gaussians  # noqa: E402

__all__ = ["rasterization"]


def rasterization(
    means: torch.Tensor,  # [..., N, 3]
    quats: torch.Tensor | None,  # [..., N, 4]
    scales: torch.Tensor | None,  # [..., N, 3]
    opacities: torch.Tensor,  # [..., N]
    colors: torch.Tensor,  # [..., (C,) N, D], or coefficients [..., (C,) N, K, 3]
    viewmats: torch.Tensor,  # [..., C, 4, 4]
    intrinsics: torch.Tensor,  # [..., C, 3, 3]
    width: int,
    height: int,
    *,
    near_plane: float = 0.01,
    far_plane: float = 1e10,
    radius_clip: float = 0.0,
    eps2d: float = 0.3,
    sh_degree: int | None = None,
    packed: bool = False,
    backgrounds: torch.Tensor | None = None,  # [..., C, D]
    render_mode: str = "RGB",
    absgrad: bool = False,
    antialiased: bool = False,
    camera_model: str = "pinhole",
    covars: torch.Tensor | None = None,  # [..., N, 3, 3], instead of quats and scales
    deterministic: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
    """Images [..., C, height, width, X], alphas [..., C, height, width, 1], and a dict of further results.

    `render_mode` is RGB, D (accumulated depth), ED (expected depth: accumulated depth / alpha), RGB+D or RGB+ED, with
    the depth as last channel. `deterministic` sums gradients in a fixed order; None: as set by
    torch.use_deterministic_algorithms.
    """
    near, far, smallest_radius, eps = camera_numbers("gaussian", near_plane, far_plane, radius_clip, eps2d)
    triangle = None if covars is None else _upper_triangle(covars)
    if covars is not None:
        quats = scales = None
    gaussians = Gaussians(means, triangle, quats, scales, opacities, viewmats, intrinsics)
    check_arguments(gaussians, colors, backgrounds, (width, height), sh_degree, render_mode, camera_model)
    with_colors, with_depths, mean_depth = MODES[render_mode]
    if not with_colors:
        # Colours are not used in this mode, and their shape was not checked.
        colors, sh_degree = means.detach()[..., :1], None
    settings = CameraSettings(
        int(width),
        int(height),
        eps,
        near,
        far,
        smallest_radius,
        bool(antialiased),
        camera_model,
    )
    fixed = torch.are_deterministic_algorithms_enabled() if deterministic is None else deterministic
    options = RenderOptions(settings, sh_degree, with_colors, with_depths, absgrad, fixed)
    gaussians, colors, backgrounds = contiguous(gaussians, colors, backgrounds, options)
    image, alphas, meta = rasterize(gaussians, colors, backgrounds, options, packed=packed)
    batch = viewmats.shape[:-2]
    if len(batch) > 1:
        image, alphas = image.view(*batch, *image.shape[1:]), alphas.view(*batch, *alphas.shape[1:])
    alphas = alphas[..., None]
    if mean_depth:
        depth = image[..., -1:] / alphas.clamp_min(1e-10)
        image = torch.cat([image[..., :-1], depth], dim=-1) if with_colors else depth
    meta.update(width=width, height=height, n_batches=math.prod(batch[:-1]), n_cameras=batch[-1])
    return image, alphas, meta


def _upper_triangle(covars: torch.Tensor) -> torch.Tensor:
    check_tensors("gaussian", {"covars": covars})
    if covars.shape[-2:] != (3, 3):
        raise ValueError(f"gaussian: covars must be [..., N, 3, 3], not {tuple(covars.shape)}")
    return covars[..., [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
