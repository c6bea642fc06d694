"""Launches the kernels that make and sort pairs of tile and Gaussian."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from rocm3d_kernels import tiles as limits
from rocm3d_kernels.launching import Start, launch
from rocm3d_kernels.tiles.triton import (
    BINS,
    rocm3d_begin_bins,
    rocm3d_emit_tiles,
    rocm3d_join_halves,
    rocm3d_sort_bins,
)
from rocm3d_kernels.tuning import kept, tuned

if TYPE_CHECKING:
    from rocm3d_kernels.projection.launch import Seen


LEAST_BIN = 16


def asked(tensor: torch.Tensor) -> Callable[[], list[int]]:
    """Starts a copy to the CPU; the returned function waits for it. Work queued in between runs meanwhile."""
    if tensor.device.type == "cpu":
        found: list[int] = tensor.tolist()
        return lambda: found
    copy = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    copy.copy_(tensor, non_blocking=True)
    arrived = torch.cuda.Event()
    arrived.record(torch.cuda.current_stream(tensor.device))

    def read() -> list[int]:
        arrived.synchronize()
        found: list[int] = copy.tolist()
        return found

    return read


def binned(
    seen: Seen, choice: int, pairs: int, shape: tuple[int, int, int], most: int
) -> tuple[torch.Tensor, torch.Tensor, int] | None:
    """Gaussians of all tiles, nearest first; offset of each tile; length of the longest list.

    Pairs are counted by tile, stored at the offset of their tile, and sorted within each tile. None if a list is longer
    than `max_bin`.
    """
    assert seen.counts is not None
    images, per_image = seen.records.shape[:2]
    device, all_tiles = seen.records.device, images * shape[1] * shape[2]
    rows = images * per_image
    counters = torch.zeros(all_tiles, dtype=torch.int32, device=device)
    begins = torch.empty(all_tiles + 1, dtype=torch.int32, device=device)
    told = torch.empty(2, dtype=torch.int32, device=device)
    keys = torch.empty(pairs, dtype=torch.int64, device=device)
    if rows:
        _emitting(rows, per_image, shape, all_tiles, device, 0)(
            seen.records, None, begins, seen.counts[choice], keys, counters
        )
    _beginning(all_tiles, device)(counters, begins, told)
    read = asked(told)
    # Queued before it is known whether the lists fit: mostly they do, and the GPU has work meanwhile.
    if rows:
        _emitting(rows, per_image, shape, all_tiles, device, 1)(
            seen.records, None, begins, seen.counts[choice], keys, counters
        )
    longest, total = read()
    if longest > most:
        return None
    seen.keys = seen.counts = None
    gaussians = torch.empty(total, dtype=torch.int32, device=device)
    if total:
        _sorting(all_tiles, max(LEAST_BIN, 1 << (longest - 1).bit_length()), device)(keys, begins, gaussians)
    return gaussians, begins, longest


@kept
def _emitting(
    rows: int, per_image: int, shape: tuple[int, int, int], all_tiles: int, device: torch.device, fill: int
) -> Start:
    parameters = tuned("tiles", "emit_tiles", device)
    return Start(
        rocm3d_emit_tiles, device, (-(-rows // parameters["BLOCK"]), 1, 1),
        (rows, per_image, *shape[1:], all_tiles, fill), ORDERED=False, SLOTS=BINS, TILE=shape[0], **parameters,
    )  # fmt: skip


@kept
def _beginning(all_tiles: int, device: torch.device) -> Start:
    return Start(rocm3d_begin_bins, device, (1, 1, 1), (all_tiles,), **tuned("tiles", "begin_bins", device))


@kept
def _sorting(all_tiles: int, size: int, device: torch.device) -> Start:
    return Start(rocm3d_sort_bins, device, (all_tiles, 1, 1), SIZE=size, **tuned("tiles", "sort_bins", device))


def by_depth(seen: Seen) -> torch.Tensor:
    """Rows of all images, nearest first; frees the keys."""
    assert seen.keys is not None
    order = torch.sort(seen.keys, stable=True)[1]
    seen.keys = None
    return order


def sorted_pairs(
    seen: Seen, choice: int, pairs: int, order: torch.Tensor | None, shape: tuple[int, int, int], *, halves: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gaussians of all tiles, nearest first, and the offset of each tile.

    Without `order` one sort by tile and depth; with it the pairs are emitted in that order and sorted by tile only.
    """
    assert seen.counts is not None
    images, per_image = seen.records.shape[:2]
    side, tiles_x, tiles_y = shape
    total, device, all_tiles = images * per_image, seen.counts.device, images * tiles_x * tiles_y
    counts = seen.counts[choice, :total]
    ordered, seen.keys = order is not None, None
    kind = torch.int64 if not ordered else torch.int16 if all_tiles <= limits.SMALL else torch.int32
    ends = torch.cumsum(counts if order is None else counts.index_select(0, order), 0, dtype=torch.int32)
    numbers = torch.empty(pairs, dtype=kind, device=device)
    gaussians = torch.empty(pairs, dtype=torch.int32, device=device)
    if pairs:
        parameters = tuned("tiles", "emit_tiles", device)
        launch(
            rocm3d_emit_tiles, (-(-total // parameters["BLOCK"]), 1, 1),
            (seen.records, order, ends, counts, numbers, gaussians, total, per_image, tiles_x, tiles_y, all_tiles, 1),
            ORDERED=ordered, SLOTS=0, TILE=side, **parameters,
        )  # fmt: skip
    # Freed first: the sort of the pairs needs the most memory.
    del order, ends, counts
    seen.counts = None
    edges = limits.edges(all_tiles, kind, device)
    if halves:
        return _by_halves(numbers, gaussians, edges)
    numbers, places = torch.sort(numbers, stable=True)
    return gaussians.index_select(0, places), torch.searchsorted(numbers, edges, out_int32=True)


def _by_halves(
    numbers: torch.Tensor, gaussians: torch.Tensor, edges: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sorts the nearer and the farther half of the pairs by tile, then joins the two lists of each tile.

    A sort needs 28 bytes per pair beside the pairs, which is the peak memory of a rendering; halves need half of it.
    """
    half = -(-len(numbers) // 2)
    parts = []
    for at in (0, half):
        keys, places = torch.sort(numbers[at : at + half], stable=True)
        # In place, to save memory.
        numbers[at : at + half] = keys
        gaussians[at : at + half] = gaussians[at : at + half].index_select(0, places)
        parts.append(torch.searchsorted(keys, edges, out_int32=True))
        del keys, places
    offsets = parts[0] + parts[1]
    to = torch.empty_like(gaussians)
    parameters = tuned("tiles", "join_halves", gaussians.device)
    launch(
        rocm3d_join_halves, (-(-len(numbers) // parameters["BLOCK"]), 1, 1),
        (numbers, gaussians, *parts, to, len(edges) - 1, half, len(numbers)),
        **parameters,
    )  # fmt: skip
    return to, offsets
