"""Launches the kernels that make and sort pairs of tile and Gaussian."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from rocm3d_kernels import tiles as limits
from rocm3d_kernels.launching import PreparedLaunch, launch
from rocm3d_kernels.tiles.triton import (
    BINS,
    rocm3d_begin_bins,
    rocm3d_emit_tiles,
    rocm3d_join_halves,
    rocm3d_sort_bins,
)
from rocm3d_kernels.tuning import cached_until_override, tuned

if TYPE_CHECKING:
    from rocm3d_kernels.projection.launch import ProjectionOutputs


MIN_BIN = 16


def read_async(tensor: torch.Tensor) -> Callable[[], list[int]]:
    """Starts a copy to the CPU; the returned function waits for it. Work queued in between runs meanwhile."""
    if tensor.device.type == "cpu":
        values: list[int] = tensor.tolist()
        return lambda: values
    copy = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    copy.copy_(tensor, non_blocking=True)
    arrived = torch.cuda.Event()
    arrived.record(torch.cuda.current_stream(tensor.device))

    def read() -> list[int]:
        arrived.synchronize()
        values: list[int] = copy.tolist()
        return values

    return read


def lists_by_bins(
    projected: ProjectionOutputs, choice: int, pairs: int, shape: tuple[int, int, int], max_bin: int
) -> tuple[torch.Tensor, torch.Tensor, int] | None:
    """Gaussians of all tiles, nearest first; offset of each tile; length of the longest list.

    Pairs are counted by tile, stored at the offset of their tile, and sorted within each tile. None if a list is longer
    than `max_bin`.
    """
    assert projected.counts is not None
    images, per_image = projected.records.shape[:2]
    device, all_tiles = projected.records.device, images * shape[1] * shape[2]
    rows = images * per_image
    counters = torch.zeros(all_tiles, dtype=torch.int32, device=device)
    begins = torch.empty(all_tiles + 1, dtype=torch.int32, device=device)
    longest_and_total = torch.empty(2, dtype=torch.int32, device=device)
    keys = torch.empty(pairs, dtype=torch.int64, device=device)
    if rows:
        _emit_launch(rows, per_image, shape, all_tiles, device, 0)(
            projected.records, None, begins, projected.counts[choice], keys, counters
        )
    _begin_bins_launch(all_tiles, device)(counters, begins, longest_and_total)
    read = read_async(longest_and_total)
    # Queued before it is known whether the lists fit: mostly they do, and the GPU has work meanwhile.
    if rows:
        _emit_launch(rows, per_image, shape, all_tiles, device, 1)(
            projected.records, None, begins, projected.counts[choice], keys, counters
        )
    longest, total = read()
    if longest > max_bin:
        return None
    projected.keys = projected.counts = None
    gaussians = torch.empty(total, dtype=torch.int32, device=device)
    if total:
        _sort_bins_launch(all_tiles, max(MIN_BIN, 1 << (longest - 1).bit_length()), device)(keys, begins, gaussians)
    return gaussians, begins, longest


@cached_until_override
def _emit_launch(
    rows: int, per_image: int, shape: tuple[int, int, int], all_tiles: int, device: torch.device, fill: int
) -> PreparedLaunch:
    parameters = tuned("tiles", "emit_tiles", device)
    return PreparedLaunch(
        rocm3d_emit_tiles, device, (-(-rows // parameters["BLOCK"]), 1, 1),
        (rows, per_image, *shape[1:], all_tiles, fill), ORDERED=False, SLOTS=BINS, TILE=shape[0], **parameters,
    )  # fmt: skip


@cached_until_override
def _begin_bins_launch(all_tiles: int, device: torch.device) -> PreparedLaunch:
    return PreparedLaunch(rocm3d_begin_bins, device, (1, 1, 1), (all_tiles,), **tuned("tiles", "begin_bins", device))


@cached_until_override
def _sort_bins_launch(all_tiles: int, size: int, device: torch.device) -> PreparedLaunch:
    return PreparedLaunch(rocm3d_sort_bins, device, (all_tiles, 1, 1), SIZE=size, **tuned("tiles", "sort_bins", device))


def sort_by_depth(projected: ProjectionOutputs) -> torch.Tensor:
    """Rows of all images, nearest first; frees the keys."""
    assert projected.keys is not None
    order = torch.sort(projected.keys, stable=True)[1]
    projected.keys = None
    return order


def lists_by_sort(
    projected: ProjectionOutputs,
    choice: int,
    pairs: int,
    order: torch.Tensor | None,
    shape: tuple[int, int, int],
    *,
    halves: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gaussians of all tiles, nearest first, and the offset of each tile.

    Without `order` one sort by tile and depth; with it the pairs are emitted in that order and sorted by tile only.
    """
    assert projected.counts is not None
    images, per_image = projected.records.shape[:2]
    side, tiles_x, tiles_y = shape
    rows, device, all_tiles = images * per_image, projected.counts.device, images * tiles_x * tiles_y
    counts = projected.counts[choice, :rows]
    ordered, projected.keys = order is not None, None
    dtype = torch.int64 if not ordered else torch.int16 if all_tiles <= limits.MAX_INT16_TILES else torch.int32
    ends = torch.cumsum(counts if order is None else counts.index_select(0, order), 0, dtype=torch.int32)
    keys = torch.empty(pairs, dtype=dtype, device=device)
    gaussians = torch.empty(pairs, dtype=torch.int32, device=device)
    if pairs:
        parameters = tuned("tiles", "emit_tiles", device)
        launch(
            rocm3d_emit_tiles, (-(-rows // parameters["BLOCK"]), 1, 1),
            (projected.records, order, ends, counts, keys, gaussians, rows, per_image, tiles_x, tiles_y, all_tiles, 1),
            ORDERED=ordered, SLOTS=0, TILE=side, **parameters,
        )  # fmt: skip
    # Freed first: the sort of the pairs needs the most memory.
    del order, ends, counts
    projected.counts = None
    edges = limits.edges(all_tiles, dtype, device)
    if halves:
        return _by_halves(keys, gaussians, edges)
    keys, permutation = torch.sort(keys, stable=True)
    return gaussians.index_select(0, permutation), torch.searchsorted(keys, edges, out_int32=True)


def _by_halves(
    numbers: torch.Tensor, gaussians: torch.Tensor, edges: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sorts the nearer and the farther half of the pairs by tile, then joins the two lists of each tile.

    A sort needs 28 bytes per pair beside the pairs, which is the peak memory of a rendering; halves need half of it.
    """
    half = -(-len(numbers) // 2)
    parts = []
    for start in (0, half):
        keys, permutation = torch.sort(numbers[start : start + half], stable=True)
        # In place, to save memory.
        numbers[start : start + half] = keys
        gaussians[start : start + half] = gaussians[start : start + half].index_select(0, permutation)
        parts.append(torch.searchsorted(keys, edges, out_int32=True))
        del keys, permutation
    offsets = parts[0] + parts[1]
    joined = torch.empty_like(gaussians)
    parameters = tuned("tiles", "join_halves", gaussians.device)
    launch(
        rocm3d_join_halves, (-(-len(numbers) // parameters["BLOCK"]), 1, 1),
        (numbers, gaussians, *parts, joined, len(edges) - 1, half, len(numbers)),
        **parameters,
    )  # fmt: skip
    return joined, offsets
