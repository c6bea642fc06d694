"""Launches the kernel that counts touched pixels."""

from __future__ import annotations

import torch

from rocm3d_kernels import boxes
from rocm3d_kernels.launching import launch
from rocm3d_kernels.touched import Flat, Tiles
from rocm3d_kernels.touched.triton import rocm3d_touched_kernel
from rocm3d_kernels.tuning import tuned

SIDE = 16


def lists(gaussians: Flat, width: int, height: int) -> Tiles:
    """Tile lists from bounding boxes, for callers without lists of a rendering."""
    images, count = gaussians.opacities.shape
    across, down = -(-width // SIDE), -(-height // SIDE)
    owners = torch.arange(images, device=gaussians.radii.device).repeat_interleave(count)
    _, keys, rows = boxes.pairs(
        gaussians.means2d.reshape(-1, 2), gaussians.radii.reshape(-1, 2), gaussians.depths.reshape(-1), owners,
        SIDE, (across, down),
    )  # fmt: skip
    begins = boxes.begins(keys, images, (across, down)).flatten()
    return Tiles(rows, torch.nn.functional.pad(begins, (0, 1), value=rows.shape[0]), SIDE, across)


def touched_pixels(gaussians: Flat, tiles: Tiles, width: int, height: int, cap: float) -> torch.Tensor:
    found = torch.zeros(gaussians.opacities.shape, dtype=torch.int32, device=gaussians.opacities.device)
    shapes = torch.cat([gaussians.means2d, gaussians.conics, gaussians.opacities[..., None]], dim=-1)
    records = torch.nn.functional.pad(shapes, (0, 2))
    many = tiles.offsets.shape[0] - 1
    if many and tiles.rows.shape[0]:
        images = gaussians.opacities.shape[0]
        given = (records, tiles.rows, tiles.offsets, found, width, height, tiles.across, many // images)
        parameters = tuned("touched", "touched_kernel", found.device)
        launch(rocm3d_touched_kernel, (many, 1, 1), given, CAP=cap, TILE=tiles.side, **parameters)
    return found
