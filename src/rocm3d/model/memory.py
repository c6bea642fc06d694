"""One way of running a repository against the memory of one card."""

from __future__ import annotations

from datetime import date

from pydantic import Field

from rocm3d.model.base import Record


class FitMemory(Record):
    """`fits` is None where the card shares the system's memory and nobody knows how much of it there is."""

    mode: str
    gb: float
    fits: bool | None
    tight: bool = Field(default=False, description="fits, and leaves no room for the driver or a larger input")
    jobs: int | None = Field(default=None, description="how many fit at once, by memory alone")
    offload: bool = Field(default=False, description="part of the weights lies in the system's memory")
    known: date | None = None
    source: str = ""
