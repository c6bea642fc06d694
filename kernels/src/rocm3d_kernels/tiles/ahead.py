"""Lists of tiles before anybody knows how long they are.

Their length is on the GPU; a CPU that waits for it, and then starts the many kernels of a sort, leaves the GPU without
work in a small scene. So the longest list is guessed from what as many Gaussians had before. Every tile gets slots for
so many, which are sorted tile by tile, and whether they were enough is looked at when everything is queued.
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
_REMEMBERED = 64


class Known(NamedTuple):
    """What there was at a place: which size of tiles, how many of them, how many slots each."""

    choice: int
    tiles: int
    slots: int


# None: lists too long to be guessed.
_KNOWN: dict[tuple[Any, ...], Known | None] = {}
# By device, as an event is.
_IDLE: dict[torch.device, list[tuple[torch.Tensor, Any]]] = {}


class Guess:
    """Lists of a guessed length, and the question whether it was enough."""

    def __init__(self, seen: Seen, size: tuple[int, int], known: Known) -> None:
        from rocm3d_kernels.tiles import launch  # noqa: PLC0415

        assert seen.totals is not None
        assert seen.counts is not None
        self.seen, self.size, self.known = seen, size, known
        shape = tiles.grid(known.choice, *size)
        gaussians, counters = launch.slotted(seen, seen.counts[known.choice], known.slots, *shape)
        self.lists = tiles.Lists(gaussians, counters, *shape, known.slots)
        self.later = _Later(seen.totals)

    def holds(self) -> bool:
        """Waits for the longest list, in vain if it is longer than was guessed."""
        coarse, fine, longest = self.later.get()
        choice, slots = tiles.finer(coarse, fine), _slots(longest)
        if (choice, slots) != (self.known.choice, self.known.slots):
            _remember(_place(*self.seen.radii.shape[:2], self.size, self.seen.radii.device), choice, slots)
        if longest > self.known.slots:
            return False
        self.seen.counts = self.seen.keys = self.seen.totals = None
        return True


def known(images: int, per_image: int, size: tuple[int, int], device: torch.device) -> Known | None:
    """What there was in as many images of as many Gaussians; None: no guess."""
    return _KNOWN.get(_place(images, per_image, size, device))


def learn(seen: Seen, size: tuple[int, int], found: tiles.Lists) -> None:
    """From lists that somebody waited for, the first time only: it takes time."""
    images, per_image = seen.radii.shape[:2]
    place = _place(images, per_image, size, seen.radii.device)
    if place in _KNOWN or images * per_image > MOST_GAUSSIANS or not found.tiles:
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


class _Later:
    """Numbers on their way from the GPU."""

    def __init__(self, numbers: torch.Tensor) -> None:
        self.numbers, self.event = numbers, None
        if numbers.is_cuda:
            # Kept for the next time: to make them takes longer than to copy.
            self.idle = _IDLE.setdefault(numbers.device, [])
            self.numbers, self.event = self.idle.pop() if self.idle else _pinned(numbers)
            self.numbers.copy_(numbers, non_blocking=True)
            self.event.record()

    def get(self) -> list[int]:
        if self.event is not None:
            self.event.synchronize()
        found: list[int] = self.numbers.tolist()
        if self.event is not None:
            self.idle.append((self.numbers, self.event))
        return found


def _pinned(like: torch.Tensor) -> tuple[torch.Tensor, Any]:
    return torch.empty(like.shape, dtype=like.dtype, pin_memory=True), torch.cuda.Event()
