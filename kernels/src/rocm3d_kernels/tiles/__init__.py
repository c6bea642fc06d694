"""Which Gaussians each tile of an image has to draw, nearest first."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

import torch

if TYPE_CHECKING:
    from rocm3d_kernels.projection.launch import Seen

# Up to here a tile's number fits into 16 bits, and the pairs are sorted in two passes.
SMALL = 2**15 - 1
# Up to so many pairs one sort by tile and depth costs less than two.
FEW = 500_000
# Small tiles waste fewer pixels, large ones make fewer pairs: small ones are taken up to so many times as many pairs.
WORTH = 2.0
LARGEST = 2**31 - 1


class Lists(NamedTuple):
    """Gaussians of tile t: `gaussians[offsets[t]:offsets[t + 1]]`, rows of the records; tiles of all images in line."""

    gaussians: torch.Tensor  # int32 [pairs]
    offsets: torch.Tensor  # int32 [tiles + 1]
    side: int  # of a tile, in pixels
    tiles_x: int
    tiles_y: int


def intersect(seen: Seen, width: int, height: int) -> Lists:
    """Lists for what the projection saw, and counted the tiles of."""
    from rocm3d_kernels.projection.launch import COARSE, FINE
    from rocm3d_kernels.tiles import launch

    if seen.totals is None or seen.counts is None:
        raise ValueError("tiles were not counted, or lists were made of them already")
    images, per_image = seen.records.shape[:2]
    # The one moment at which the CPU waits, early, so that all that follows is queued behind each other.
    coarse, fine = seen.totals.tolist()
    choice = int(fine <= WORTH * coarse)
    side, pairs = ((COARSE, coarse), (FINE, fine))[choice]
    tiles_x, tiles_y = -(-width // side), -(-height // side)
    all_tiles = images * tiles_x * tiles_y
    if max(all_tiles, images * per_image, pairs) >= LARGEST:
        raise ValueError(
            f"{all_tiles} tiles, {images * per_image} Gaussians in all images and {pairs} pairs of both: "
            f"at most {LARGEST}; draw fewer images at once"
        )
    gaussians, offsets = launch.sorted_pairs(seen, seen.counts[choice], pairs, side, tiles_x, tiles_y)
    return Lists(gaussians, offsets, side, tiles_x, tiles_y)


@functools.lru_cache(maxsize=8)
def edges(all_tiles: int, kind: torch.dtype, device: torch.device) -> torch.Tensor:
    """The sort keys at which the lists of tiles begin."""
    found = torch.arange(all_tiles + 1, dtype=kind, device=device)
    return found << 32 if kind == torch.int64 else found
