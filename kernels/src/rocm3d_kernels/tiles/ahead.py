"""Lists of tiles before anybody knows how long they are.

Their length is on the GPU; a CPU that waits for it, and then starts the many kernels of a sort, leaves the GPU without
work in a small scene. So the longest list is guessed from what as many Gaussians had before. Every tile gets slots for
so many, which are sorted tile by tile, and then somebody looks whether they were enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from rocm3d_kernels import tiles

if TYPE_CHECKING:
    from rocm3d_kernels.projection.launch import Seen

# More keeps the GPU busy anyway, and needs memory.
MOST_GAUSSIANS, MOST_SLOTS, SLOTS_IN_ALL = 500_000, 1024, 2_500_000
LEAST_SLOTS, SPARE = 32, 1.25
# So many times too large a guess is forgotten; a little too large it stays, as cameras that take turns differ.
TOO_LARGE = 2
_REMEMBERED = 64


class Known(NamedTuple):
    """What there was at a place: which size of tiles, how many of them, how many slots each."""

    choice: int
    tiles: int
    slots: int


# None: lists too long to be guessed.
_KNOWN: dict[tuple[Any, ...], Known | None] = {}


def known(images: int, per_image: int, size: tuple[int, int], device: torch.device) -> Known | None:
    """What there was in as many images of as many Gaussians; None: no guess."""
    return _KNOWN.get(_place(images, per_image, size, device))


def guessed(seen: Seen, size: tuple[int, int], known: Known) -> tiles.Lists | None:
    """Lists in slots; None where one is longer than was guessed. What was known of another scene is forgotten."""
    from rocm3d_kernels.tiles import launch  # noqa: PLC0415

    assert seen.counts is not None
    shape = tiles.grid(known.choice, *size)
    gaussians, counters, most = launch.slotted(seen, seen.counts[known.choice], known.slots, *shape)
    seen.counts = None
    # The one moment at which the CPU waits; by then the GPU has done most of it.
    longest = int(most.item())
    images, per_image = seen.radii.shape[:2]
    place = _place(images, per_image, size, seen.radii.device)
    if longest > known.slots or known.slots > TOO_LARGE * _slots(longest):
        _KNOWN.pop(place, None)
    return None if longest > known.slots else tiles.Lists(gaussians, counters, *shape, known.slots)


def learn(seen: Seen, size: tuple[int, int], found: tiles.Lists) -> None:
    """From lists that somebody waited for, the first time only: it takes time."""
    images, per_image = seen.radii.shape[:2]
    place = _place(images, per_image, size, seen.radii.device)
    if place in _KNOWN or not 0 < images * per_image <= MOST_GAUSSIANS or not found.tiles:
        return
    longest = int(found.offsets.diff().max())
    _remember(place, int(found.side == tiles.grid(1, *size)[0]), _slots(longest))


def _slots(longest: int) -> int:
    return max(LEAST_SLOTS, 1 << int(longest * SPARE).bit_length())


def _remember(place: tuple[Any, ...], choice: int, slots: int) -> None:
    images, _, size, _ = place
    _, columns, rows = tiles.grid(choice, *size)
    count = images * columns * rows
    if len(_KNOWN) >= _REMEMBERED:
        _KNOWN.clear()
    _KNOWN[place] = Known(choice, count, slots) if slots <= MOST_SLOTS and count * slots <= SLOTS_IN_ALL else None


def _place(images: int, per_image: int, size: tuple[int, int], device: torch.device) -> tuple[Any, ...]:
    return images, per_image, size, device
