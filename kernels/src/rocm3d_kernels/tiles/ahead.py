"""Lists of tiles before anybody knows how long they are.

Their length is on the GPU; a CPU that waits for it, and then starts the many kernels of a sort, leaves the GPU without
work in a small scene. So the longest list is guessed from what as many Gaussians had before. Every tile gets slots for
so many, which are sorted tile by tile, and then somebody looks whether they were enough.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from rocm3d_kernels import tiles
from rocm3d_kernels.tiles.patience import Patience

if TYPE_CHECKING:
    from rocm3d_kernels.projection.launch import Seen

# More keeps the GPU busy anyway, and needs memory.
MOST_GAUSSIANS, MOST_SLOTS, SLOTS_IN_ALL = 500_000, 1024, 2_500_000
LEAST_SLOTS, SPARE = 32, 1.25
# A guess so many times too large is forgotten after as many renderings in a row: cameras that take turns differ.
TOO_LARGE, ENOUGH = 2, 16
_REMEMBERED = 64


class Known(NamedTuple):
    """What there was at a place: which size of tiles, how many of them, how many slots each."""

    choice: int
    tiles: int
    slots: int


@dataclass(slots=True)
class _Place:
    """What became of guesses for as many Gaussians in as many images of one size."""

    guess: Known | None = None
    patience: Patience = field(default_factory=Patience)
    pairs: int = 0  # when somebody looked
    good: int = 0
    too_large: int = 0

    def fail(self) -> None:
        """No guess now, and none before a while has passed."""
        self.guess, self.good, self.too_large = None, 0, 0
        self.patience.fail()


_PLACES: dict[tuple[Any, ...], _Place] = {}


def known(images: int, per_image: int, size: tuple[int, int], device: torch.device) -> Known | None:
    """What there was in as many images of as many Gaussians; None: no guess."""
    place = _PLACES.get((images, per_image, size, device))
    return None if place is None else place.guess


def enough(
    longest: int, known: Known, images: int, per_image: int, size: tuple[int, int], device: torch.device
) -> bool:
    """Whether the slots were; what was known of a scene of other lists is forgotten."""
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
    """From lists that somebody waited for, where there is no guess and it is time for one: to look takes time.

    It is time, too, when there are far fewer pairs than when somebody looked.
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
