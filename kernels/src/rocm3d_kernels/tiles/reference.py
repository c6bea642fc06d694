"""Gaussians of each tile in plain PyTorch: evaluates every Gaussian at every pixel centre."""

from __future__ import annotations

import torch

from rocm3d_kernels.image_formation import SMALLEST_ALPHA


def intersect(
    records: torch.Tensor,  # [images, N, 8]
    radii: torch.Tensor,  # [images, N, 2]
    size: tuple[int, int],
    side: int,
    min_alpha: float = SMALLEST_ALPHA,
) -> list[list[int]]:
    """For each tile of all images the rows of Gaussians whose alpha reaches `min_alpha` at a pixel, nearest first."""
    width, height = size
    y, x = torch.meshgrid(torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij")
    lists: list[list[int]] = []
    for image, (rows, visible) in enumerate(zip(records.double().cpu(), (radii > 0).all(dim=-1).cpu(), strict=True)):
        reached = torch.nn.functional.pad(
            (_alpha(rows, x, y) >= min_alpha) & visible[:, None, None], (0, -width % side, 0, -height % side)
        )
        tiles = reached.unflatten(2, (-1, side)).unflatten(1, (-1, side)).any(dim=4).any(dim=2)
        order = torch.argsort(rows[:, 6], stable=True)
        lists += [(order[touched[order]] + image * len(rows)).tolist() for touched in tiles.flatten(1).T]
    return lists


def _alpha(rows: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """[N, height, width]."""
    mean_x, mean_y, a, b, c, opacity = (one[:, None, None] for one in rows[:, :6].unbind(-1))
    dx, dy = mean_x - x, mean_y - y
    return opacity * torch.exp(-0.5 * (a * dx * dx + c * dy * dy) - b * dx * dy)
