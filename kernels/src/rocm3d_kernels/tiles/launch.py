"""Makes pairs of tile and Gaussian, and sorts them."""

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
    """Reads what stands in it, once that is there; who asks may queue other work before."""
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
    """Gaussians of all tiles, nearest first, where each tile's begin, and how many the one with most has.

    Pairs are counted tile by tile, put where their tile's begin, and sorted by each tile for itself. None where one has
    more than `most`.
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
    # Queued before anybody knows whether it is of use: mostly it is, and the GPU has work meanwhile.
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
    """The rows of all images, nearest first; nobody needs their keys after that."""
    assert seen.keys is not None
    order = torch.sort(seen.keys, stable=True)[1]
    seen.keys = None
    return order


def sorted_pairs(
    seen: Seen, choice: int, pairs: int, order: torch.Tensor | None, shape: tuple[int, int, int], *, halves: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gaussians of all tiles, nearest first, and where each tile's begin.

    Without an `order` of the Gaussians one sort by tile and depth; with it the pairs in that order, by a few bits.
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
    # The sort of the pairs needs most memory of all.
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
    """The nearer half of the pairs and the farther one by tile each, and then the lists of both behind each other.

    A sort takes 28 bytes a pair besides them, and where it does, an image needs the most memory: so it takes half.
    """
    half = -(-len(numbers) // 2)
    parts = []
    for at in (0, half):
        keys, places = torch.sort(numbers[at : at + half], stable=True)
        # In place of what they were made of.
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
