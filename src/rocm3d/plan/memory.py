"""A card's memory against each mode of a repository: what fits, how many jobs at once, and what to do otherwise."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from rocm3d.model.memory import FitMemory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm3d.model.port import MemoryNeed

# The usable share of a card's memory; the remainder is for the driver, fragmentation and larger inputs.
HEADROOM = Decimal(9) / 10

UNKNOWN = "not a known repository; its memory needs are unknown"
NOT_MEASURED = "its memory needs were not measured"
SHARED_MEMORY = (
    "this GPU shares the system's memory: what fits, and how many jobs at once, depends on the memory that the "
    "machine has and lets the GPU use"
)
JOBS_RULE = (
    f"jobs at once: how many times a mode fits into {HEADROOM:.0%} of the memory of one device; "
    "this does not consider their speed"
)


def fit_modes(memory: Iterable[MemoryNeed], gb: float | None) -> tuple[FitMemory, ...]:
    """Each mode against the memory of one device in GB; None for a GPU that shares the system's memory."""
    return tuple(_fit_mode(mode, gb) for mode in memory)


def _fit_mode(mode: MemoryNeed, gb: float | None) -> FitMemory:
    fits = None if gb is None else mode.gb <= gb
    return FitMemory(
        mode=mode.mode,
        gb=mode.gb,
        fits=fits,
        tight=bool(fits) and gb is not None and _fit_count(mode.gb, gb) == 0,
        jobs=None if gb is None else concurrent_jobs(mode.gb, gb),
        offload=mode.offload,
        known=mode.known,
        source=mode.source.where,
    )


def concurrent_jobs(need: float, gb: float) -> int:
    """How many jobs fit at once: at least 1 if the job fits without headroom."""
    return max(_fit_count(need, gb), 1 if need <= gb else 0)


def _fit_count(need: float, gb: float) -> int:
    # Decimal, so that 21.6 of 24 GB is exactly the limit despite rounding.
    return int(HEADROOM * Decimal(str(gb)) / Decimal(str(need)))


def memory_notes(modes: Sequence[FitMemory], gb: float | None, devices: int) -> tuple[str, ...]:
    if not modes:
        return (NOT_MEASURED,)
    if gb is None:
        return (SHARED_MEMORY,)
    if devices > 1:
        return (f"a program sees this card as {devices} devices of {gb:g} GB each; a mode must fit into one", JOBS_RULE)
    return (JOBS_RULE,)


def offload_advice(modes: Sequence[FitMemory], gb: float | None) -> tuple[str, ...]:
    """What to do about modes that do not fit."""
    if not modes or gb is None:
        return ()
    too_large, fitting = [mode for mode in modes if not mode.fits], [mode for mode in modes if mode.fits]
    if not too_large:
        return ("every known mode fits: no offloading needed",)
    if not fitting:
        smallest = min(modes, key=lambda mode: mode.gb)
        return (f"no known mode fits in {gb:g} GB; {smallest.mode} needs the least, {smallest.gb:g} GB",)
    lines = [f"does not fit in {gb:g} GB: {_mode_list(too_large)}; fits: {_mode_list(fitting)}"]
    lines += [
        f"{mode.mode} keeps part of the weights in system memory: slower, and needs that memory"
        for mode in fitting
        if mode.offload
    ]
    return tuple(lines)


def _mode_list(modes: Iterable[FitMemory]) -> str:
    return ", ".join(f"{mode.mode} ({mode.gb:g} GB)" for mode in modes)
