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
# From here on they are sorted in two halves, as the sort would need more memory than all the rest.
MANY = 2_000_000
# Small tiles waste fewer pixels, large ones make fewer pairs: small ones are taken up to so many times as many pairs.
WORTH = 2.0
LARGEST = 2**31 - 1


class Lists(NamedTuple):
    """Gaussians of tile t: `gaussians[offsets[t]:offsets[t + 1]]`, rows of the records; tiles of all images in line.

    With `slots` every tile has so many places of its own, and `offsets[t]` says how many of them it uses.
    """

    gaussians: torch.Tensor  # int32 [pairs]
    offsets: torch.Tensor  # int32 [tiles + 1]; with slots [tiles]
    side: int  # of a tile, in pixels
    tiles_x: int
    tiles_y: int
    slots: int = 0

    @property
    def tiles(self) -> int:
        """How many lists there are."""
        return int(self.offsets.shape[0]) - (0 if self.slots else 1)

    def packed(self) -> Lists:
        """The same without slots."""
        if not self.slots:
            return self
        used = torch.arange(self.slots, device=self.offsets.device) < self.offsets[:, None]
        offsets = torch.nn.functional.pad(self.offsets.cumsum(0, dtype=torch.int32), (1, 0))
        return Lists(self.gaussians.view(used.shape)[used], offsets, self.side, self.tiles_x, self.tiles_y)


def intersect(seen: Seen, width: int, height: int) -> Lists:
    """Lists for what the projection saw, and counted the tiles of."""
    from rocm3d_kernels.tiles import launch

    if seen.totals is None or seen.counts is None:
        raise ValueError("tiles were not counted, or lists were made of them already")
    images, per_image = seen.records.shape[:2]
    # The one moment at which the CPU waits, early, so that all that follows is queued behind each other.
    totals = seen.totals.tolist()
    choice = finer(*totals)
    pairs, shape = totals[choice], grid(choice, width, height)
    all_tiles = images * shape[1] * shape[2]
    if max(all_tiles, images * per_image, pairs) >= LARGEST:
        raise ValueError(
            f"{all_tiles} tiles, {images * per_image} Gaussians in all images and {pairs} pairs of both: "
            f"at most {LARGEST}; draw fewer images at once"
        )
    return Lists(*launch.sorted_pairs(seen, seen.counts[choice], pairs, *shape), *shape)


def finer(coarse: int, fine: int) -> int:
    """Whether small tiles are worth so many more pairs: 1, else 0."""
    return int(fine <= WORTH * coarse)


def grid(choice: int, width: int, height: int) -> tuple[int, int, int]:
    """Side of a tile, columns and rows."""
    from rocm3d_kernels.projection.launch import COARSE, FINE

    side = (COARSE, FINE)[choice]
    return side, -(-width // side), -(-height // side)


def counters(all_tiles: int) -> int:
    """Numbers in which the Gaussians of so many tiles are counted, behind the most that one has, aligned."""
    return 4 + all_tiles


@functools.lru_cache(maxsize=8)
def edges(all_tiles: int, kind: torch.dtype, device: torch.device) -> torch.Tensor:
    """The sort keys at which the lists of tiles begin."""
    found = torch.arange(all_tiles + 1, dtype=kind, device=device)
    return found << 32 if kind == torch.int64 else found
