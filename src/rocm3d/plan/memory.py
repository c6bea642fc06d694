"""The memory of a card against every way of running a repository: what fits, how often, and what is left to do."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from rocm3d.model.memory import FitMemory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm3d.model.port import Memory

# Above this share of a card's memory there is no room for the driver, fragmentation or a larger input.
HEADROOM = Decimal(9) / 10

UNKNOWN = "no record of this repository; memory needs are not known"
NOT_MEASURED = "the record has no figure for its memory"
SHARED = (
    "this GPU shares the system's memory: what fits, and how many jobs at once, depends on how much of it the "
    "machine has and lets the GPU use"
)
RULE = (
    f"jobs at once: how often a mode fits into {HEADROOM:.0%} of the memory of one device; "
    "by memory alone, which says nothing of their speed"
)


def fitted(memory: Iterable[Memory], gb: float | None) -> tuple[FitMemory, ...]:
    """Every mode against the memory of one device; None: as much as the system has."""
    return tuple(_fitted(mode, gb) for mode in memory)


def _fitted(mode: Memory, gb: float | None) -> FitMemory:
    fits = None if gb is None else mode.gb <= gb
    return FitMemory(
        mode=mode.mode,
        gb=mode.gb,
        fits=fits,
        tight=bool(fits) and gb is not None and _times(mode.gb, gb) == 0,
        jobs=None if gb is None else jobs(mode.gb, gb),
        offload=mode.offload,
        known=mode.known,
        source=mode.source.where,
    )


def jobs(need: float, gb: float) -> int:
    """How many fit at once. One that fits only without the usual headroom is still one."""
    return max(_times(need, gb), 1 if need <= gb else 0)


def _times(need: float, gb: float) -> int:
    # Decimals, so that 21.6 of 24 GB is exactly the limit and not a rounding beyond it.
    return int(HEADROOM * Decimal(str(gb)) / Decimal(str(need)))


def notes(modes: Sequence[FitMemory], gb: float | None, devices: int) -> tuple[str, ...]:
    """How memory was judged."""
    if not modes:
        return (NOT_MEASURED,)
    if gb is None:
        return (SHARED,)
    if devices > 1:
        return (f"a program sees this card as {devices} devices of {gb:g} GB each; a mode has to fit into one", RULE)
    return (RULE,)


def offload(modes: Sequence[FitMemory], gb: float | None) -> tuple[str, ...]:
    """What is left when a mode does not fit."""
    if not modes or gb is None:
        return ()
    wanting, able = [mode for mode in modes if not mode.fits], [mode for mode in modes if mode.fits]
    if not wanting:
        return ("every way of running it that is on record fits: nothing has to leave the card's memory",)
    if not able:
        least = min(modes, key=lambda mode: mode.gb)
        return (f"no way of running it that is on record fits in {gb:g} GB; {least.mode} takes least, {least.gb:g} GB",)
    lines = [f"does not fit in {gb:g} GB: {_listed(wanting)}; fits: {_listed(able)}"]
    lines += [
        f"{mode.mode} keeps part of the weights in the system's memory: slower, and that memory must be there"
        for mode in able
        if mode.offload
    ]
    return tuple(lines)


def _listed(modes: Iterable[FitMemory]) -> str:
    return ", ".join(f"{mode.mode} ({mode.gb:g} GB)" for mode in modes)
