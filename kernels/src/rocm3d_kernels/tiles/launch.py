"""Makes pairs of tile and Gaussian, and sorts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton

from rocm3d_kernels import tiles as limits
from rocm3d_kernels.launching import launch
from rocm3d_kernels.tiles.triton import emit_tiles
from rocm3d_kernels.tuning import tuned

if TYPE_CHECKING:
    from rocm3d_kernels.projection.launch import Seen


def sorted_pairs(
    seen: Seen, counts: torch.Tensor, pairs: int, side: int, tiles_x: int, tiles_y: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gaussians of all tiles, nearest first, and where each tile's begin.

    Few pairs: one sort by tile and depth. Many: the Gaussians by depth first, then the pairs by few bits of the tile.
    """
    images, per_image = seen.records.shape[:2]
    total, device, all_tiles = images * per_image, counts.device, images * tiles_x * tiles_y
    ordered = pairs > limits.FEW
    kind = torch.int64 if not ordered else torch.int16 if all_tiles <= limits.SMALL else torch.int32
    order = torch.sort(seen.keys, stable=True)[1] if ordered else None
    seen.keys = None
    ends = torch.cumsum(counts if order is None else counts[order], 0, dtype=torch.int32)
    numbers = torch.empty(pairs, dtype=kind, device=device)
    gaussians = torch.empty(pairs, dtype=torch.int32, device=device)
    if pairs:
        parameters = tuned("tiles", "emit_tiles", device)
        launch(
            emit_tiles, (triton.cdiv(total, parameters["BLOCK"]), 1, 1),
            (seen.records, order, ends, counts, numbers, gaussians, total, per_image, tiles_x, tiles_y, all_tiles),
            ORDERED=ordered, SHORT=kind == torch.int16, TILE=side, **parameters,
        )  # fmt: skip
    # The sort of the pairs needs most memory of all.
    del order, ends, counts
    seen.counts = None
    numbers, places = torch.sort(numbers, stable=True)
    offsets = torch.searchsorted(numbers, limits.edges(all_tiles, kind, device), out_int32=True)
    return gaussians[places], offsets
