"""Surfels of each image tile, nearest first."""

from __future__ import annotations

from typing import NamedTuple

import torch

from rocm3d_kernels import boxes
from rocm3d_kernels.surfels.reference import DEPTH, MEAN, TILE

SIDE = TILE
MAX_INT32 = 2**31 - 1


class SurfelTileLists(NamedTuple):
    """Surfels of tile t: `rows[offsets[t]:offsets[t + 1]]`; tiles of all images in line."""

    counts: torch.Tensor  # int32 [images, N]: number of tiles
    keys: torch.Tensor  # int64 [pairs]: image, tile and depth
    rows: torch.Tensor  # int32 [pairs]
    offsets: torch.Tensor  # int32 [tiles + 1]
    across: int
    down: int


def tile_lists(records: torch.Tensor, radii: torch.Tensor, size: tuple[int, int]) -> SurfelTileLists:
    images, count = records.shape[:2]
    across, down = (-(-side // SIDE) for side in size)
    if max(images * across * down, images * count) >= MAX_INT32:
        raise ValueError(f"surfels: {images} images of {across} x {down} tiles with {count} surfels: too many")
    image_ids = torch.arange(images, device=records.device).repeat_interleave(count)
    flat = records.reshape(-1, records.shape[-1])
    counts, keys, rows = boxes.tile_pairs(
        flat[:, MEAN : MEAN + 2], radii.reshape(-1, 2), flat[:, DEPTH], image_ids, SIDE, (across, down)
    )
    if rows.shape[0] >= MAX_INT32:
        raise ValueError(f"surfels: {rows.shape[0]} pairs of tile and surfel; must be below {MAX_INT32}")
    begins = boxes.tile_offsets(keys, images, (across, down)).flatten()
    offsets = torch.nn.functional.pad(begins, (0, 1), value=rows.shape[0])
    return SurfelTileLists(counts.view(images, count), keys, rows, offsets, across, down)
