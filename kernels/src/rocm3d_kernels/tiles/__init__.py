"""Gaussians of each image tile, nearest first."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from rocm3d_kernels.backoff import ExponentialBackoff
from rocm3d_kernels.tuning import cached_until_override, tuned

if TYPE_CHECKING:
    from rocm3d_kernels.projection.launch import ProjectionOutputs

# Up to so many tiles an index fits into int16, and the pairs are sorted in two radix passes.
MAX_INT16_TILES = 2**15 - 1
# From so many pairs on they are sorted in two halves if the sort would need more memory than backward does later.
# Bytes per pair in the sort; per Gaussian and per pixel when backward begins.
MIN_PAIRS_FOR_HALVES = 2_000_000
PAIR_BYTES, GAUSSIAN_BYTES, PIXEL_BYTES = 34, 36, 28
MAX_INT32 = 2**31 - 1


class ListLimits(NamedTuple):
    """Thresholds of the fastest method on a GPU, from its tuning table."""

    one_sort_pairs: int  # up to so many pairs, one sort by tile and depth is faster than two
    early_sort_gaussians: int  # above, Gaussians are sorted by depth before the number of pairs is known
    max_bin: int  # longest list that is sorted tile by tile
    max_binned_pairs: int  # above, one sort of all pairs is faster
    max_fine_ratio: float  # fine tiles are used up to this ratio of fine to coarse pairs: they waste fewer pixels


class TileLists(NamedTuple):
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

    def packed(self) -> TileLists:
        """The same without slots."""
        if not self.slots:
            return self
        used = torch.arange(self.slots, device=self.offsets.device) < self.offsets[:, None]
        offsets = torch.nn.functional.pad(self.offsets.cumsum(0, dtype=torch.int32), (1, 0))
        return TileLists(self.gaussians.view(used.shape)[used], offsets, self.side, self.tiles_x, self.tiles_y)


# Backoff of sorting by bins, by scene.
_BACKOFFS: dict[tuple[Any, ...], ExponentialBackoff] = {}
_MAX_SCENES = 64


def intersect(projected: ProjectionOutputs, width: int, height: int) -> TileLists:
    """Tile lists of projected Gaussians whose tiles were counted; consumes the counts."""
    from rocm3d_kernels.tiles import launch

    if projected.totals is None or projected.counts is None:
        raise ValueError("tiles: the projection did not count tiles, or intersect ran on it already")
    images, per_image = projected.records.shape[:2]
    limits = list_limits(projected.radii.device)
    backoff = _backoff(images, per_image, width, height, projected.radii.device)
    try_bins = backoff.should_try()
    # The CPU waits for the totals below. The GPU sorts meanwhile, if needed.
    totals = launch.read_async(projected.totals)
    order = (
        launch.sort_by_depth(projected) if images * per_image > limits.early_sort_gaussians and not try_bins else None
    )
    coarse, fine = totals()
    # 0: coarse tiles, 1: fine tiles.
    choice = int(fine <= limits.max_fine_ratio * coarse)
    pairs, shape = (coarse, fine)[choice], tile_grid(choice, width, height)
    all_tiles = images * shape[1] * shape[2]
    if max(all_tiles, images * per_image, pairs) >= MAX_INT32:
        raise ValueError(
            f"tiles: {all_tiles} tiles, {images * per_image} Gaussians in all images and {pairs} pairs; "
            f"each must be below {MAX_INT32}. Render fewer images at once"
        )
    if try_bins:
        bins = (
            launch.lists_by_bins(projected, choice, pairs, shape, limits.max_bin)
            if pairs <= limits.max_binned_pairs
            else None
        )
        if bins is not None:
            backoff.succeed()
            gaussians, begins, longest = bins
            return TileLists(gaussians, begins, *shape, longest=longest)
        backoff.fail()
    halves = (
        pairs > MIN_PAIRS_FOR_HALVES
        and PAIR_BYTES * pairs > GAUSSIAN_BYTES * images * per_image + PIXEL_BYTES * images * width * height
    )
    if order is None and pairs > limits.one_sort_pairs:
        order = launch.sort_by_depth(projected)
    return TileLists(*launch.lists_by_sort(projected, choice, pairs, order, shape, halves=halves), *shape)


def _backoff(*key: Any) -> ExponentialBackoff:
    if key not in _BACKOFFS and len(_BACKOFFS) >= _MAX_SCENES:
        _BACKOFFS.clear()
    return _BACKOFFS.setdefault(key, ExponentialBackoff())


@cached_until_override
def list_limits(device: torch.device) -> ListLimits:
    parameters = tuned("tiles", "lists", device)
    return ListLimits(
        parameters["FEW"], parameters["EARLY"], parameters["MOST_BIN"], parameters["MOST_BINNED"], parameters["WORTH"]
    )


def tile_grid(choice: int, width: int, height: int) -> tuple[int, int, int]:
    """Side of a tile, columns and rows."""
    from rocm3d_kernels.projection.launch import COARSE, FINE

    side = (COARSE, FINE)[choice]
    return side, -(-width // side), -(-height // side)


@functools.lru_cache(maxsize=8)
def edges(all_tiles: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Smallest sort key of each tile."""
    numbers = torch.arange(all_tiles + 1, dtype=dtype, device=device)
    return numbers << 32 if dtype == torch.int64 else numbers
