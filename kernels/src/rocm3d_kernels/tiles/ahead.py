"""Guesses the length of the longest tile list before it is known.

The length is computed on the GPU. In a small scene the GPU is idle while the CPU waits for it and then launches the
many kernels of a sort. Therefore the longest list is guessed from earlier renderings of as many Gaussians. Every tile
gets so many slots and sorts its own, and a check afterwards tells whether the slots were enough.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from rocm3d_kernels import tiles
from rocm3d_kernels.tiles.patience import Patience

if TYPE_CHECKING:
    from rocm3d_kernels.projection.launch import Seen

# Above these the GPU is busy anyway, and slots need too much memory.
MOST_GAUSSIANS, MOST_SLOTS, SLOTS_IN_ALL = 500_000, 1024, 2_500_000
LEAST_SLOTS, SPARE = 32, 1.25
# A guess this many times too large is dropped after so many renderings in a row: alternating cameras differ.
TOO_LARGE, ENOUGH = 2, 16
_REMEMBERED = 64


class Known(NamedTuple):
    """Tile size (0: coarse, 1: fine), number of tiles, and slots per tile."""

    choice: int
    tiles: int
    slots: int


@dataclass(slots=True)
class _Place:
    """Guesses for one number of Gaussians, number of images and image size, and how they turned out."""

    guess: Known | None = None
    patience: Patience = field(default_factory=Patience)
    pairs: int = 0  # at the latest attempt to learn a guess
    good: int = 0
    too_large: int = 0

    def fail(self) -> None:
        """Drops the guess and starts the backoff."""
        self.guess, self.good, self.too_large = None, 0, 0
        self.patience.fail()


_PLACES: dict[tuple[Any, ...], _Place] = {}


def known(images: int, per_image: int, size: tuple[int, int], device: torch.device) -> Known | None:
    """Guess for as many images of as many Gaussians; None: there is none."""
    place = _PLACES.get((images, per_image, size, device))
    return None if place is None else place.guess


def enough(
    longest: int, known: Known, images: int, per_image: int, size: tuple[int, int], device: torch.device
) -> bool:
    """Whether the longest list fits into the slots; updates the history and drops a wrong guess."""
    place = _PLACES.setdefault((images, per_image, size, device), _Place())
    if longest > known.slots:
        place.fail()
        return False
    place.good += 1
    if place.good >= ENOUGH:
        place.patience.succeed()
    place.too_large = place.too_large + 1 if known.slots > TOO_LARGE * _slots(longest) else 0
    if place.too_large >= ENOUGH:
        place.guess, place.too_large = None, 0
    return True


def learn(seen: Seen, size: tuple[int, int], found: tiles.Lists) -> None:
    """Learns a guess from complete lists, unless there is one or the backoff says to wait: reading the length is slow.

    The wait ends early if there are less than half as many pairs as at the latest attempt.
    """
    images, per_image = seen.radii.shape[:2]
    if not 0 < images * per_image <= MOST_GAUSSIANS or not found.tiles:
        return
    key = (images, per_image, size, seen.radii.device)
    if key not in _PLACES and len(_PLACES) >= _REMEMBERED:
        _PLACES.clear()
    place = _PLACES.setdefault(key, _Place())
    if place.guess is not None:
        return
    pairs = len(found.gaussians)
    if not place.patience.ready() and 2 * pairs >= place.pairs:
        return
    place.pairs = pairs
    slots = _slots(int(found.offsets.diff().max()) if found.longest is None else found.longest)
    if slots <= MOST_SLOTS and found.tiles * slots <= SLOTS_IN_ALL:
        place.guess = Known(int(found.side == tiles.grid(1, *size)[0]), found.tiles, slots)
    else:
        place.fail()


def _slots(longest: int) -> int:
    return max(LEAST_SLOTS, 1 << int(longest * SPARE).bit_length())
