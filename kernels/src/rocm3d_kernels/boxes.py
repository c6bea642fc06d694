"""Which tiles boxes touch, in plain PyTorch on any device: lists by tile, nearest first.

Boxes instead of the outlines that `tiles` takes, for callers whose shapes are no ellipses or who bring lists of
their own.
"""

from __future__ import annotations

import torch

# Above the bits of a depth.
DEPTH = 32


@torch.no_grad()
def pairs(
    centres: torch.Tensor,  # [rows, 2]
    radii: torch.Tensor,  # [rows, 2]; zero: touches nothing
    depths: torch.Tensor,  # [rows], above zero
    images: torch.Tensor,  # [rows], the image of each
    side: int,
    tiles: tuple[int, int],  # across and down
    *,
    sort: bool = True,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """How many tiles each row touches, keys of image, tile and depth, and the rows they belong to."""
    across, down = tiles
    most = torch.tensor([across, down], device=centres.device)
    low = torch.minimum(((centres - radii) / side).floor().clamp_min(0), most).long()
    high = torch.minimum(((centres + radii) / side).ceil().clamp_min(0), most).long()
    wide = torch.where((radii > 0).all(dim=-1, keepdim=True), (high - low).clamp_min(0), 0)
    counts = wide[:, 0] * wide[:, 1]
    rows = torch.repeat_interleave(torch.arange(centres.shape[0], device=centres.device), counts)
    within = torch.arange(rows.shape[0], device=centres.device) - (counts.cumsum(0) - counts)[rows]
    columns = wide[rows, 0].clamp_min(1)
    tile = (low[rows, 1] + within // columns) * across + low[rows, 0] + within % columns
    bits = (across * down - 1).bit_length()
    keys = (images[rows] << (DEPTH + bits)) | (tile << DEPTH) | depths.float().view(torch.int32).long()[rows]
    if sort:
        keys, order = torch.sort(keys, stable=True)
        rows = rows[order]
    return counts.int(), keys, rows.int()


@torch.no_grad()
def begins(keys: torch.Tensor, images: int, tiles: tuple[int, int]) -> torch.Tensor:
    """Where each tile's rows begin among sorted keys, int32 [images, down, across]."""
    across, down = tiles
    count = across * down
    numbers = torch.arange(images * count, device=keys.device)
    edges = ((numbers // count) << (DEPTH + (count - 1).bit_length())) | ((numbers % count) << DEPTH)
    return torch.searchsorted(keys, edges, out_int32=True).view(images, down, across)
