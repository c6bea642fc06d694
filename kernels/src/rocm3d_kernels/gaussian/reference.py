"""Projection, colours and rasterization in plain PyTorch; in float64 the reference for the kernels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.harmonics.reference import spherical_harmonics
from rocm3d_kernels.projection import reference as projection
from rocm3d_kernels.raster.reference import rasterize

if TYPE_CHECKING:
    from rocm3d_kernels.gaussian.options import RenderOptions
    from rocm3d_kernels.projection import Gaussians


def render(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    options: RenderOptions,
    watched: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, projection.ReferenceProjection, torch.Tensor]:
    """Images [images, height, width, D], alphas [images, height, width], projection, compensated opacities."""
    settings, cameras, count = options.settings, gaussians.viewmats.shape[-3], gaussians.means.shape[-2]
    if gaussians.opacities is None:
        raise ValueError("gaussian: opacities are missing")
    batches = math.prod(gaussians.means.shape[:-2])
    means = gaussians.means.reshape(batches, count, 3)
    views = gaussians.viewmats.reshape(batches, cameras, 4, 4)
    peaks = gaussians.opacities.reshape(batches, count)
    projected = projection.project_all(gaussians, settings)
    opacities = peaks[:, None].expand(-1, cameras, -1)
    if projected.compensations is not None:
        opacities = opacities * projected.compensations
    projected = projection.ReferenceProjection(*[None if one is None else one.flatten(0, 1) for one in projected])
    opacities = opacities.flatten(0, 1)
    images = views.shape[0] * cameras
    if watched is not None:
        # The value of `watched` has no effect; it receives the full gradient of means2d.
        projected = projected._replace(means2d=projected.means2d + (watched - watched.detach()).view(images, count, 2))
    if options.degree is not None:
        origins = -(views[..., :3, :3] * views[..., :3, 3:]).sum(dim=-2)
        directions = (means[:, None] - origins[..., None, :]).flatten(0, 1)
        by_image = colors
        if colors.dim() == gaussians.means.dim() + 1:
            by_image = colors.reshape(batches, 1, *colors.shape[-3:]).expand(-1, cameras, -1, -1, -1)
        by_image = by_image.reshape(images, *colors.shape[-3:])
        colors = (spherical_harmonics(options.degree, directions, by_image) + 0.5).clamp_min(0.0)
    elif colors.dim() == 2:
        colors = colors.expand(images, *colors.shape)
    if options.with_depths:
        depths = projected.depths[..., None]
        if options.inverse_depths:
            visible = (projected.radii > 0).all(dim=-1, keepdim=True)
            depths = torch.where(
                visible, 1.0 / torch.where(visible, depths, torch.ones_like(depths)), torch.zeros_like(depths)
            )
        colors = torch.cat([colors, depths], dim=-1) if options.with_colors else depths
    size = (settings.width, settings.height)
    image, alphas = rasterize(
        projected.means2d,
        projected.conics,
        colors,
        opacities,
        projected.depths,
        projected.radii,
        size,
        backgrounds,
        options.cap,
    )
    return image, alphas, projected, opacities
