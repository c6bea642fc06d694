"""Durations as people write them: 600, 600s, 20m, 2h, 1d."""

from __future__ import annotations

import re

from rocm3d.model.counted import counted

_DURATION = re.compile(r"(\d+(?:\.\d+)?) ?([smhd]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_duration(text: str) -> float:
    """Seconds. Raises ValueError."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a duration, for example 600s, 20m or 2h")
    return float(match[1]) * _SECONDS[match[2]]


def describe_duration(seconds: float) -> str:
    """Such as `10 minutes`, in the largest unit that gives a whole number."""
    for unit, name in ((3600, "hour"), (60, "minute")):
        if seconds >= unit and seconds % unit == 0:
            return counted(round(seconds / unit), name)
    return counted(round(seconds), "second")
