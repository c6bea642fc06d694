"""Normals of the surface that a picture of depths shows."""

from __future__ import annotations

import torch


def from_depth(depths: torch.Tensor, viewmats: torch.Tensor, intrinsics: torch.Tensor) -> torch.Tensor:
    """Unit normals of the world [..., height, width, 3] towards the camera; zero at the edge of the picture.

    `depths` [..., height, width, 1] are along the axis of views [..., 4, 4]. A normal stands across the lines between
    the neighbours of a pixel, above and below, left and right.
    """
    height, width = depths.shape[-3:-1]
    found = depths.new_zeros((*depths.shape[:-1], 3))
    if min(height, width) < 3:
        return found
    kind = {"dtype": depths.dtype, "device": depths.device}
    x, y = torch.arange(width, **kind) + 0.5, torch.arange(height, **kind) + 0.5
    across = (x - intrinsics[..., 0, 2, None]) / intrinsics[..., 0, 0, None]
    down = (y - intrinsics[..., 1, 2, None]) / intrinsics[..., 1, 1, None]
    plane = depths[..., 0]
    points = torch.stack([plane * across[..., None, :], plane * down[..., None], plane], dim=-1)
    vertical = points[..., 2:, 1:-1, :] - points[..., :-2, 1:-1, :]
    horizontal = points[..., 1:-1, 2:, :] - points[..., 1:-1, :-2, :]
    normals = torch.nn.functional.normalize(torch.linalg.cross(vertical, horizontal), dim=-1)
    # From the camera into the world, once they are small: the place of the camera does not matter.
    normals = torch.einsum("...ji,...hwj->...hwi", viewmats[..., :3, :3], normals)
    return torch.nn.functional.pad(normals, (0, 0, 1, 1, 1, 1))
