"""Launches the kernel that counts touched pixels."""

from __future__ import annotations

import torch

from rocm3d_kernels import boxes
from rocm3d_kernels.launching import launch
from rocm3d_kernels.touched import ImageGaussians, RenderedTiles
from rocm3d_kernels.touched.triton import rocm3d_touched_kernel
from rocm3d_kernels.tuning import tuned

TILE_SIDE = 16


def tile_lists(gaussians: ImageGaussians, width: int, height: int) -> RenderedTiles:
    """Tile lists from bounding boxes, for callers without lists of a rendering."""
    images, count = gaussians.opacities.shape
    across, down = -(-width // TILE_SIDE), -(-height // TILE_SIDE)
    image_ids = torch.arange(images, device=gaussians.radii.device).repeat_interleave(count)
    _, keys, rows = boxes.tile_pairs(
        gaussians.means2d.reshape(-1, 2), gaussians.radii.reshape(-1, 2), gaussians.depths.reshape(-1), image_ids,
        TILE_SIDE, (across, down),
    )  # fmt: skip
    begins = boxes.tile_offsets(keys, images, (across, down)).flatten()
    return RenderedTiles(rows, torch.nn.functional.pad(begins, (0, 1), value=rows.shape[0]), TILE_SIDE, across)


def touched_pixels(
    gaussians: ImageGaussians, tiles: RenderedTiles, width: int, height: int, cap: float
) -> torch.Tensor:
    counts = torch.zeros(gaussians.opacities.shape, dtype=torch.int32, device=gaussians.opacities.device)
    shapes = torch.cat([gaussians.means2d, gaussians.conics, gaussians.opacities[..., None]], dim=-1)
    records = torch.nn.functional.pad(shapes, (0, 2))
    tile_count = tiles.offsets.shape[0] - 1
    if tile_count and tiles.rows.shape[0]:
        images = gaussians.opacities.shape[0]
        arguments = (records, tiles.rows, tiles.offsets, counts, width, height, tiles.across, tile_count // images)
        parameters = tuned("touched", "touched_kernel", counts.device)
        launch(rocm3d_touched_kernel, (tile_count, 1, 1), arguments, CAP=cap, TILE=tiles.side, **parameters)
    return counts
