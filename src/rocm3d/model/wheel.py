"""For which Python versions the releases of a distribution have wheels, and on which index."""

from __future__ import annotations

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Identifier, Range


class WheelRange(Record):
    """Releases with wheels for the same Python versions, for Linux on x86-64. Both ranges are PEP 440."""

    versions: Range
    python: Range
    index: str = Field(default="", description="the only index that has these releases; empty: PyPI")


class WheelRecord(Fact):
    """A distribution whose source does not build on every Python, or that has no source release.

    The ranges of versions are in order and leave no gap: the first has no lower bound, the last no upper bound.
    """

    id: Identifier
    name: str
    ranges: tuple[WheelRange, ...] = Field(min_length=1)


class WheelTable(Record):
    """The content of wheels.toml."""

    wheels: tuple[WheelRecord, ...]
