"""Makes pairs of tile and Gaussian, and sorts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from rocm3d_kernels import tiles as limits
from rocm3d_kernels.launching import launch
from rocm3d_kernels.tiles.triton import rocm3d_emit_tiles, rocm3d_join_halves, rocm3d_sort_slots
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
    ends = torch.cumsum(counts if order is None else counts.index_select(0, order), 0, dtype=torch.int32)
    numbers = torch.empty(pairs, dtype=kind, device=device)
    gaussians = torch.empty(pairs, dtype=torch.int32, device=device)
    if pairs:
        parameters = tuned("tiles", "emit_tiles", device)
        launch(
            rocm3d_emit_tiles, (-(-total // parameters["BLOCK"]), 1, 1),
            (seen.records, order, ends, counts, numbers, gaussians, total, per_image, tiles_x, tiles_y, all_tiles),
            ORDERED=ordered, SLOTS=0, TILE=side, **parameters,
        )  # fmt: skip
    # The sort of the pairs needs most memory of all.
    del order, ends, counts
    seen.counts = None
    edges = limits.edges(all_tiles, kind, device)
    if pairs > limits.MANY:
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


def slotted(
    seen: Seen, counts: torch.Tensor, slots: int, side: int, tiles_x: int, tiles_y: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gaussians of all tiles, nearest first, in `slots` places each, how many each tile has, and the most that one has.

    No length is asked for and no list is longer than its slots: where one would be, it is not whole. What is counted is
    counted in the last numbers that the projection cleared.
    """
    images, per_image = seen.records.shape[:2]
    total, device, all_tiles = images * per_image, counts.device, images * tiles_x * tiles_y
    assert seen.cleared is not None
    numbers = seen.cleared[-limits.counters(all_tiles) :].view(torch.int32)
    counters = numbers[-all_tiles:]
    keys = torch.empty(all_tiles * slots, dtype=torch.int64, device=device)
    gaussians = torch.empty(all_tiles * slots, dtype=torch.int32, device=device)
    parameters = tuned("tiles", "emit_tiles", device)
    launch(
        rocm3d_emit_tiles, (-(-total // parameters["BLOCK"]), 1, 1),
        (seen.records, None, None, counts, keys, counters, total, per_image, tiles_x, tiles_y, all_tiles),
        ORDERED=False, SLOTS=slots, TILE=side, **parameters,
    )  # fmt: skip
    launch(
        rocm3d_sort_slots, (all_tiles, 1, 1), (keys, counters, gaussians, numbers),
        SLOTS=slots, **tuned("tiles", "sort_slots", device),
    )  # fmt: skip
    return gaussians, counters, numbers[0]
