"""Axis ticks at round values, and times and sizes in a readable unit."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, isfinite, log10

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "\N{MICRO SIGN}s"))
_SIZES = ((1024**4, "TiB"), (1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"), (1, "B"))


@dataclass(frozen=True)
class DisplayUnit:
    """`size` is the unit in seconds or bytes."""

    size: float
    name: str

    def format(self, value: float) -> str:
        """Such as `1.25 ms`."""
        return f"{format_number(value / self.size)} {self.name}"


def time_unit(largest: float) -> DisplayUnit:
    """A readable unit for times up to this many seconds."""
    return next((DisplayUnit(size, name) for size, name in _TIMES if largest >= size), DisplayUnit(*_TIMES[-1]))


def size_unit(largest: float) -> DisplayUnit:
    """A readable unit for sizes up to this many bytes."""
    return next((DisplayUnit(size, name) for size, name in _SIZES if largest >= size), DisplayUnit(*_SIZES[-1]))


def ticks(largest: float, count: int = 4) -> list[float]:
    """From 0 to the first tick at or above `largest`, in steps of 1, 2 or 5 times a power of ten."""
    raw = largest / count
    if not isfinite(largest) or raw <= 0:  # the smallest floats divided are 0
        return [0.0, 1.0]
    power = 10.0 ** floor(log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    values = [0.0]
    while values[-1] < largest * (1 - 1e-9):
        values.append(len(values) * step)
    return values


def format_number(value: float) -> str:
    """Three significant digits; integers from 100 on in full."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
