"""Compositing of projected Gaussians in plain PyTorch, tile by tile; in float64 the reference for the kernels."""

from __future__ import annotations

import torch

from rocm3d_kernels.image_formation import LARGEST_ALPHA, SMALLEST_ALPHA, SMALLEST_TRANSMITTANCE

TILE = 16


def rasterize(
    means2d: torch.Tensor,  # [images, N, 2]
    conics: torch.Tensor,  # [images, N, 3]
    colors: torch.Tensor,  # [images, N, D]
    opacities: torch.Tensor,  # [images, N]
    depths: torch.Tensor,  # [images, N]
    radii: torch.Tensor,  # [images, N, 2]
    size: tuple[int, int],
    backgrounds: torch.Tensor | None = None,  # [images, D]
    cap: float = LARGEST_ALPHA,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Images [images, height, width, D] and alphas [images, height, width]."""
    drawn = [
        _image(means2d[i], conics[i], colors[i], opacities[i], depths[i], radii[i], size, cap)
        for i in range(means2d.shape[0])
    ]
    image, alphas = torch.stack([one for one, _ in drawn]), torch.stack([two for _, two in drawn])
    if backgrounds is not None:
        image = image + (1.0 - alphas)[..., None] * backgrounds[:, None, None, :]
    return image, alphas


def _image(
    means2d: torch.Tensor,
    conics: torch.Tensor,
    colors: torch.Tensor,
    opacities: torch.Tensor,
    depths: torch.Tensor,
    radii: torch.Tensor,
    size: tuple[int, int],
    cap: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    width, height = size
    order = torch.argsort(depths.detach(), stable=True)
    order = order[(radii[order] > 0).all(dim=-1)]
    low, high = (means2d[order] - radii[order]).detach(), (means2d[order] + radii[order]).detach()
    rows = []
    for top in range(0, height, TILE):
        in_row = (high[:, 1] >= top) & (low[:, 1] <= top + TILE)
        row_ids, left, right = order[in_row], low[in_row, 0], high[in_row, 0]
        tiles = []
        for start in range(0, width, TILE):
            tile_ids = row_ids[(right >= start) & (left <= start + TILE)]
            box = (start, top, min(start + TILE, width), min(top + TILE, height))
            tiles.append(_tile(means2d[tile_ids], conics[tile_ids], colors[tile_ids], opacities[tile_ids], box, cap))
        rows.append((torch.cat([one for one, _ in tiles], dim=1), torch.cat([two for _, two in tiles], dim=1)))
    return torch.cat([one for one, _ in rows]), torch.cat([two for _, two in rows])


def _tile(
    means2d: torch.Tensor,
    conics: torch.Tensor,
    colors: torch.Tensor,
    opacities: torch.Tensor,
    box: tuple[int, int, int, int],
    cap: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Colours and alphas of the pixels in a box, from Gaussians sorted by depth."""
    like = {"dtype": means2d.dtype, "device": means2d.device}
    y, x = torch.meshgrid(
        torch.arange(box[1], box[3], **like) + 0.5, torch.arange(box[0], box[2], **like) + 0.5, indexing="ij"
    )
    dx, dy = means2d[:, 0] - x[..., None], means2d[:, 1] - y[..., None]
    sigma = 0.5 * (conics[:, 0] * dx**2 + conics[:, 2] * dy**2) + conics[:, 1] * dx * dy
    alpha = (opacities * torch.exp(-sigma)).clamp_max(cap)
    alpha = torch.where((sigma >= 0) & (alpha >= SMALLEST_ALPHA), alpha, torch.zeros_like(alpha))
    T = torch.cumprod(1.0 - alpha, dim=-1)
    # The Gaussian that would make T too small is not drawn, nor are those behind it.
    alpha = torch.where(T > SMALLEST_TRANSMITTANCE, alpha, torch.zeros_like(alpha))
    T = torch.cumprod(1.0 - alpha, dim=-1)
    T_before = torch.cat([torch.ones_like(x)[..., None], T], dim=-1)
    weights = alpha * T_before[..., :-1]
    return weights @ colors, 1.0 - T_before[..., -1]
