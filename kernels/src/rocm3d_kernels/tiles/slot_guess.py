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
from rocm3d_kernels.backoff import ExponentialBackoff

if TYPE_CHECKING:
    from rocm3d_kernels.projection.launch import ProjectionOutputs

# Above these the GPU is busy anyway, and slots need too much memory.
MAX_GAUSSIANS, MAX_SLOTS, MAX_TOTAL_SLOTS = 500_000, 1024, 2_500_000
MIN_SLOTS, SLOT_MARGIN = 32, 1.25
# A guess this many times too large is dropped after so many renderings in a row: alternating cameras differ.
OVERSIZE_FACTOR, STREAK_LENGTH = 2, 16
_MAX_SCENES = 64


class SlotGuess(NamedTuple):
    """Tile size (0: coarse, 1: fine), number of tiles, and slots per tile."""

    choice: int
    tiles: int
    slots: int


@dataclass(slots=True)
class _SceneHistory:
    """Guesses for one number of Gaussians, number of images and image size, and how they turned out."""

    guess: SlotGuess | None = None
    backoff: ExponentialBackoff = field(default_factory=ExponentialBackoff)
    pairs: int = 0  # at the latest attempt to learn a guess
    good_guesses: int = 0
    oversized_guesses: int = 0

    def fail(self) -> None:
        """Drops the guess and starts the backoff."""
        self.guess, self.good_guesses, self.oversized_guesses = None, 0, 0
        self.backoff.fail()


_HISTORIES: dict[tuple[Any, ...], _SceneHistory] = {}


def find_guess(images: int, per_image: int, size: tuple[int, int], device: torch.device) -> SlotGuess | None:
    """Guess for as many images of as many Gaussians; None: there is none."""
    history = _HISTORIES.get((images, per_image, size, device))
    return None if history is None else history.guess


def check_slots(
    longest: int, guess: SlotGuess, images: int, per_image: int, size: tuple[int, int], device: torch.device
) -> bool:
    """Whether the longest list fits into the slots; updates the history and drops a wrong guess."""
    history = _HISTORIES.setdefault((images, per_image, size, device), _SceneHistory())
    if longest > guess.slots:
        history.fail()
        return False
    history.good_guesses += 1
    if history.good_guesses >= STREAK_LENGTH:
        history.backoff.succeed()
    history.oversized_guesses = (
        history.oversized_guesses + 1 if guess.slots > OVERSIZE_FACTOR * _slot_count(longest) else 0
    )
    if history.oversized_guesses >= STREAK_LENGTH:
        history.guess, history.oversized_guesses = None, 0
    return True


def learn_guess(projected: ProjectionOutputs, size: tuple[int, int], lists: tiles.TileLists) -> None:
    """Learns a guess from complete lists, unless there is one or the backoff says to wait: reading the length is slow.

    The wait ends early if there are less than half as many pairs as at the latest attempt.
    """
    images, per_image = projected.radii.shape[:2]
    if not 0 < images * per_image <= MAX_GAUSSIANS or not lists.tiles:
        return
    key = (images, per_image, size, projected.radii.device)
    if key not in _HISTORIES and len(_HISTORIES) >= _MAX_SCENES:
        _HISTORIES.clear()
    history = _HISTORIES.setdefault(key, _SceneHistory())
    if history.guess is not None:
        return
    pairs = len(lists.gaussians)
    if not history.backoff.should_try() and 2 * pairs >= history.pairs:
        return
    history.pairs = pairs
    slots = _slot_count(int(lists.offsets.diff().max()) if lists.longest is None else lists.longest)
    if slots <= MAX_SLOTS and lists.tiles * slots <= MAX_TOTAL_SLOTS:
        history.guess = SlotGuess(int(lists.side == tiles.tile_grid(1, *size)[0]), lists.tiles, slots)
    else:
        history.fail()


def _slot_count(longest: int) -> int:
    return max(MIN_SLOTS, 1 << int(longest * SLOT_MARGIN).bit_length())
