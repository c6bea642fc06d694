"""Surface normals from a depth image."""

from __future__ import annotations

import torch


def from_depth(depths: torch.Tensor, viewmats: torch.Tensor, intrinsics: torch.Tensor) -> torch.Tensor:
    """Unit normals [..., height, width, 3] in world space, facing the camera; zero at the edge of the image.

    `depths` [..., height, width, 1] are along the viewing axis. A normal is the cross product of the differences
    between the vertical and between the horizontal neighbours of a pixel.
    """
    height, width = depths.shape[-3:-1]
    zeros = depths.new_zeros((*depths.shape[:-1], 3))
    if min(height, width) < 3:
        return zeros
    like = {"dtype": depths.dtype, "device": depths.device}
    x, y = torch.arange(width, **like) + 0.5, torch.arange(height, **like) + 0.5
    across = (x - intrinsics[..., 0, 2, None]) / intrinsics[..., 0, 0, None]
    down = (y - intrinsics[..., 1, 2, None]) / intrinsics[..., 1, 1, None]
    plane = depths[..., 0]
    points = torch.stack([plane * across[..., None, :], plane * down[..., None], plane], dim=-1)
    vertical = points[..., 2:, 1:-1, :] - points[..., :-2, 1:-1, :]
    horizontal = points[..., 1:-1, 2:, :] - points[..., 1:-1, :-2, :]
    normals = torch.nn.functional.normalize(torch.linalg.cross(vertical, horizontal), dim=-1)
    # Camera to world after the normals are computed: a translation does not change them.
    normals = torch.einsum("...ji,...hwj->...hwi", viewmats[..., :3, :3], normals)
    return torch.nn.functional.pad(normals, (0, 0, 1, 1, 1, 1))
