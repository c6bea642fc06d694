"""Gaussians of each image tile, nearest first."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from rocm3d_kernels.tiles.patience import Patience
from rocm3d_kernels.tuning import kept, tuned

if TYPE_CHECKING:
    from rocm3d_kernels.projection.launch import Seen

# Up to so many tiles an index fits into int16, and the pairs are sorted in two radix passes.
SMALL = 2**15 - 1
# From so many pairs on they are sorted in two halves if the sort would need more memory than backward does later.
# Bytes per pair in the sort; per Gaussian and per pixel when backward begins.
MANY = 2_000_000
PAIR, GAUSSIAN, PIXEL = 34, 36, 28
LARGEST = 2**31 - 1


class Limits(NamedTuple):
    """Thresholds of the fastest method on a GPU, from its tuning table."""

    few: int  # up to so many pairs, one sort by tile and depth is faster than two
    early: int  # above, Gaussians are sorted by depth before the number of pairs is known
    bin: int  # longest list that is sorted tile by tile
    binned: int  # above, one sort of all pairs is faster
    worth: float  # fine tiles are used up to this ratio of fine to coarse pairs: they waste fewer pixels


class Lists(NamedTuple):
    """Gaussians of tile t: `gaussians[offsets[t]:offsets[t + 1]]`, rows of the records; tiles of all images in line.

    With `slots` > 0 every tile has so many entries of `gaussians`, and `offsets[t]` is how many of them it uses.
    """

    gaussians: torch.Tensor  # int32 [pairs]
    offsets: torch.Tensor  # int32 [tiles + 1]; with slots [tiles]
    side: int  # of a tile, in pixels
    tiles_x: int
    tiles_y: int
    slots: int = 0
    longest: int | None = None  # length of the longest list; None: not known

    @property
    def tiles(self) -> int:
        """Number of tiles in all images."""
        return int(self.offsets.shape[0]) - (0 if self.slots else 1)

    def packed(self) -> Lists:
        """The same without slots."""
        if not self.slots:
            return self
        used = torch.arange(self.slots, device=self.offsets.device) < self.offsets[:, None]
        offsets = torch.nn.functional.pad(self.offsets.cumsum(0, dtype=torch.int32), (1, 0))
        return Lists(self.gaussians.view(used.shape)[used], offsets, self.side, self.tiles_x, self.tiles_y)


# Backoff of sorting by bins, by scene.
_PATIENCE: dict[tuple[Any, ...], Patience] = {}
_REMEMBERED = 64


def intersect(seen: Seen, width: int, height: int) -> Lists:
    """Tile lists of projected Gaussians whose tiles were counted; consumes the counts."""
    from rocm3d_kernels.tiles import launch

    if seen.totals is None or seen.counts is None:
        raise ValueError("tiles: the projection did not count tiles, or intersect ran on it already")
    images, per_image = seen.records.shape[:2]
    limits = limits_of(seen.radii.device)
    patience = _patience(images, per_image, width, height, seen.radii.device)
    by_bins = patience.ready()
    # The CPU waits for the totals below. The GPU sorts meanwhile, if needed.
    totals = launch.asked(seen.totals)
    order = launch.by_depth(seen) if images * per_image > limits.early and not by_bins else None
    coarse, fine = totals()
    # 0: coarse tiles, 1: fine tiles.
    choice = int(fine <= limits.worth * coarse)
    pairs, shape = (coarse, fine)[choice], grid(choice, width, height)
    all_tiles = images * shape[1] * shape[2]
    if max(all_tiles, images * per_image, pairs) >= LARGEST:
        raise ValueError(
            f"tiles: {all_tiles} tiles, {images * per_image} Gaussians in all images and {pairs} pairs; "
            f"each must be below {LARGEST}. Render fewer images at once"
        )
    if by_bins:
        found = launch.binned(seen, choice, pairs, shape, limits.bin) if pairs <= limits.binned else None
        if found is not None:
            patience.succeed()
            gaussians, begins, longest = found
            return Lists(gaussians, begins, *shape, longest=longest)
        patience.fail()
    halves = pairs > MANY and PAIR * pairs > GAUSSIAN * images * per_image + PIXEL * images * width * height
    if order is None and pairs > limits.few:
        order = launch.by_depth(seen)
    return Lists(*launch.sorted_pairs(seen, choice, pairs, order, shape, halves=halves), *shape)


def _patience(*place: Any) -> Patience:
    if place not in _PATIENCE and len(_PATIENCE) >= _REMEMBERED:
        _PATIENCE.clear()
    return _PATIENCE.setdefault(place, Patience())


@kept
def limits_of(device: torch.device) -> Limits:
    told = tuned("tiles", "lists", device)
    return Limits(told["FEW"], told["EARLY"], told["MOST_BIN"], told["MOST_BINNED"], told["WORTH"])


def grid(choice: int, width: int, height: int) -> tuple[int, int, int]:
    """Side of a tile, columns and rows."""
    from rocm3d_kernels.projection.launch import COARSE, FINE

    side = (COARSE, FINE)[choice]
    return side, -(-width // side), -(-height // side)


@functools.lru_cache(maxsize=8)
def edges(all_tiles: int, kind: torch.dtype, device: torch.device) -> torch.Tensor:
    """Smallest sort key of each tile."""
    found = torch.arange(all_tiles + 1, dtype=kind, device=device)
    return found << 32 if kind == torch.int64 else found
