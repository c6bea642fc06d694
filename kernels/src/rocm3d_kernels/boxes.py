"""Intersects bounding boxes with image tiles in plain PyTorch, on any device: rows by tile, nearest first.

`tiles` intersects exact ellipses. Boxes are for shapes that are no ellipses and for callers with lists of their own.
"""

from __future__ import annotations

import torch

# A sort key is (image, tile, depth); the depth has this many low bits.
DEPTH_BITS = 32


@torch.no_grad()
def tile_pairs(
    centres: torch.Tensor,  # [rows, 2]
    radii: torch.Tensor,  # [rows, 2]; zero: the row touches no tile
    depths: torch.Tensor,  # [rows], positive
    images: torch.Tensor,  # [rows], index of the image
    side: int,
    tiles: tuple[int, int],  # across and down
    *,
    sort: bool = True,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Tiles per row, int32 [rows]; sort keys, int64 [pairs]; row of each pair, int32 [pairs]."""
    across, down = tiles
    grid_size = torch.tensor([across, down], device=centres.device)
    low = torch.minimum(((centres - radii) / side).floor().clamp_min(0), grid_size).long()
    high = torch.minimum(((centres + radii) / side).ceil().clamp_min(0), grid_size).long()
    box_tiles = torch.where((radii > 0).all(dim=-1, keepdim=True), (high - low).clamp_min(0), 0)
    counts = box_tiles[:, 0] * box_tiles[:, 1]
    rows = torch.repeat_interleave(torch.arange(centres.shape[0], device=centres.device), counts)
    index_in_box = torch.arange(rows.shape[0], device=centres.device) - (counts.cumsum(0) - counts)[rows]
    columns = box_tiles[rows, 0].clamp_min(1)
    tile = (low[rows, 1] + index_in_box // columns) * across + low[rows, 0] + index_in_box % columns
    bits = (across * down - 1).bit_length()
    keys = (images[rows] << (DEPTH_BITS + bits)) | (tile << DEPTH_BITS) | depths.float().view(torch.int32).long()[rows]
    if sort:
        keys, order = torch.sort(keys, stable=True)
        rows = rows[order]
    return counts.int(), keys, rows.int()


@torch.no_grad()
def tile_offsets(keys: torch.Tensor, images: int, tiles: tuple[int, int]) -> torch.Tensor:
    """Index of each tile's first pair among the sorted keys, int32 [images, down, across]."""
    across, down = tiles
    count = across * down
    numbers = torch.arange(images * count, device=keys.device)
    edges = ((numbers // count) << (DEPTH_BITS + (count - 1).bit_length())) | ((numbers % count) << DEPTH_BITS)
    return torch.searchsorted(keys, edges, out_int32=True).view(images, down, across)
