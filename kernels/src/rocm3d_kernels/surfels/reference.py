"""2D Gaussian surfels in plain PyTorch: ray-disc intersection, tile by tile; in float64 the reference for the kernels.

After Huang and others, 2D Gaussian Splatting for Geometrically Accurate Radiance Fields, 2024.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from rocm3d_kernels.image_formation import EXTENT, LARGEST_ALPHA, SMALLEST_ALPHA, SMALLEST_TRANSMITTANCE
from rocm3d_kernels.projection.reference import rotation

TILE = 16
# Columns of a record: transform (3 rows), mean x and y, opacity, depth, normal.
MEAN, OPACITY, DEPTH, NORMAL, RECORD = 9, 11, 12, 13, 16
# Smallest squared half side of a bounding box at one standard deviation, in pixels.
SMALLEST_SQUARE = 1e-4
# 1 / variance of the smallest extent of a surfel in the image, in pixels.
SHARPNESS = 2.0


class SurfelImages(NamedTuple):
    """Images [images, height, width, ...]; alphas, distortion and median without a channel dimension."""

    image: torch.Tensor
    alphas: torch.Tensor
    normals: torch.Tensor
    distortion: torch.Tensor
    median: torch.Tensor


def project(
    means: torch.Tensor,  # [B, N, 3]
    quats: torch.Tensor,  # [B, N, 4]
    scales: torch.Tensor,  # [B, N, 3]; the third is ignored
    opacities: torch.Tensor,  # [B, N]
    viewmats: torch.Tensor,  # [B, C, 4, 4]
    intrinsics: torch.Tensor,  # [B, C, 3, 3]
    size: tuple[int, int],
    near: float,
    far: float,
    radius_clip: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Records [B * C, N, 16] and radii [B * C, N, 2]; radii are zero for invisible surfels."""
    R, t = viewmats[:, :, None, :3, :3], viewmats[:, :, None, :3, 3]
    points = (R @ means[:, None, :, :, None])[..., 0] + t
    depths = points[..., 2]
    usable = (depths > near) & (depths < far) & points.isfinite().all(dim=-1) & opacities[:, None].isfinite()
    points = torch.where(usable[..., None], points, torch.ones_like(points))
    axes = R @ rotation(quats)[:, None]
    plane = torch.cat([axes[..., :2] * scales[:, None, :, None, :2], points[..., None]], dim=-1)
    lens = torch.zeros_like(intrinsics)
    lens[..., 0, 0], lens[..., 1, 1] = intrinsics[..., 0, 0], intrinsics[..., 1, 1]
    lens[..., :2, 2] = intrinsics[..., :2, 2]
    lens[..., 2, 2] = 1.0
    transform = lens[:, :, None] @ plane
    means2d, squares, scale = _box(transform)
    radii = (EXTENT * squares.clamp_min(SMALLEST_SQUARE).sqrt()).ceil().detach()
    edge = torch.tensor(size, dtype=means.dtype, device=means.device)
    inside = ((means2d + radii > 0) & (means2d - radii < edge)).all(dim=-1)
    visible = usable & inside & (scale != 0) & radii.isfinite().all(dim=-1) & (radii > radius_clip).any(dim=-1)
    normals = axes[..., 2]
    facing = (normals * points).sum(dim=-1, keepdim=True) < 0
    parts = (
        transform.flatten(-2), means2d, opacities[:, None, :, None].expand(*depths.shape, 1), points[..., 2:],
        torch.where(facing, normals, -normals),
    )  # fmt: skip
    records = torch.cat(parts, dim=-1).flatten(0, 1)
    radii = torch.where(visible[..., None], radii.clamp_max(1e9), torch.zeros_like(radii))
    return records, radii.int().flatten(0, 1)


def _box(transform: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Centre and squared half sides of the box around the unit circle of a disc, and their common denominator."""
    last = transform[..., 2, :]
    scale = last[..., 0] ** 2 + last[..., 1] ** 2 - last[..., 2] ** 2
    over = 1.0 / torch.where(scale == 0, torch.ones_like(scale), scale)[..., None]
    # Relative to the projected centre: relative to the image corner, the difference would lose its digits.
    centre = transform[..., :2, 2] / last[..., None, 2]
    around = transform[..., :2, :2] - centre[..., None] * last[..., None, :2]
    shift = (around * last[..., None, :2]).sum(dim=-1) * over
    return centre + shift, shift**2 - (around**2).sum(dim=-1) * over, scale


def draw(
    records: torch.Tensor,  # [images, N, 16]
    radii: torch.Tensor,  # [images, N, 2]
    colors: torch.Tensor,  # [images, N, D]
    backgrounds: torch.Tensor | None,  # [images, D]
    size: tuple[int, int],
) -> SurfelImages:
    drawn = [_image(*one, size) for one in zip(records, radii, colors, strict=True)]
    images = SurfelImages(*[torch.stack(parts) for parts in zip(*drawn, strict=True)])
    if backgrounds is not None:
        behind = (1.0 - images.alphas)[..., None] * backgrounds[:, None, None, :]
        images = images._replace(image=images.image + behind)
    return images


def _image(records: torch.Tensor, radii: torch.Tensor, colors: torch.Tensor, size: tuple[int, int]) -> SurfelImages:
    width, height = size
    order = torch.argsort(records[:, DEPTH].detach(), stable=True)
    order = order[(radii[order] > 0).all(dim=-1)]
    middle, half = records[order, MEAN : MEAN + 2].detach(), radii[order]
    # By tile, as in the kernel and in gsplat: a surfel is drawn in all pixels of a tile or in none.
    first, after = ((middle - half) / TILE).floor(), ((middle + half) / TILE).ceil()
    lines = []
    for row in range(-(-height // TILE)):
        tiles = []
        for column in range(-(-width // TILE)):
            tile = torch.tensor([column, row], dtype=first.dtype, device=first.device)
            tile_ids = order[((first <= tile) & (after > tile)).all(dim=-1)]
            box = (
                column * TILE,
                row * TILE,
                min(column * TILE + TILE, width),
                min(row * TILE + TILE, height),
            )
            tiles.append(_tile(records[tile_ids], colors[tile_ids], box))
        lines.append([torch.cat(parts, dim=1) for parts in zip(*tiles, strict=True)])
    return SurfelImages(*[torch.cat(parts) for parts in zip(*lines, strict=True)])


def _alpha(records: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Alpha of each surfel at pixel centres [height, width, 1]; zero below the smallest alpha."""
    rows = records[:, :MEAN].unflatten(-1, (3, 3))
    # Two planes that intersect in the ray of the pixel, in disc coordinates; they meet the disc in one point.
    across = x[..., None] * rows[:, 2] - rows[:, 0]
    down = y[..., None] * rows[:, 2] - rows[:, 1]
    h = torch.linalg.cross(across, down)
    is_parallel = h[..., 2] == 0
    denominator = torch.where(is_parallel, torch.ones_like(h[..., 2]), h[..., 2])
    on_disc = (h[..., 0] / denominator) ** 2 + (h[..., 1] / denominator) ** 2
    in_image = SHARPNESS * ((records[:, MEAN] - x) ** 2 + (records[:, MEAN + 1] - y) ** 2)
    alpha = (records[:, OPACITY] * torch.exp(-0.5 * torch.minimum(on_disc, in_image))).clamp_max(LARGEST_ALPHA)
    return torch.where(~is_parallel & (alpha >= SMALLEST_ALPHA), alpha, torch.zeros_like(alpha))


def _tile(records: torch.Tensor, colors: torch.Tensor, box: tuple[int, int, int, int]) -> SurfelImages:
    """Images of the pixels in a box, from surfels sorted by depth."""
    like = {"dtype": records.dtype, "device": records.device}
    y, x = torch.meshgrid(
        torch.arange(box[1], box[3], **like) + 0.5, torch.arange(box[0], box[2], **like) + 0.5, indexing="ij"
    )
    alpha = _alpha(records, x[..., None], y[..., None])
    T = torch.cumprod(1.0 - alpha, dim=-1)
    # The surfel that would make T too small is not drawn, nor are those behind it.
    alpha = torch.where(T > SMALLEST_TRANSMITTANCE, alpha, torch.zeros_like(alpha))
    T = torch.cat([torch.ones_like(x)[..., None], torch.cumprod(1.0 - alpha, dim=-1)], dim=-1)
    weights, T_before = alpha * T[..., :-1], T[..., :-1]
    depths = records[:, DEPTH]
    depth_sum_before = torch.cumsum(weights * depths, dim=-1) - weights * depths
    distortion = 2.0 * (weights * (depths * (1.0 - T_before) - depth_sum_before)).sum(dim=-1)
    # Depths ascend, so the largest depth with T > 0.5 is the median.
    median = torch.where((alpha > 0) & (T_before > 0.5), depths, torch.zeros_like(depths))
    median = median.amax(dim=-1) if len(depths) else torch.zeros_like(x)
    return SurfelImages(weights @ colors, 1.0 - T[..., -1], weights @ records[:, NORMAL:], distortion, median)
