"""Whether one mode of a repository fits in the memory of one card."""

from __future__ import annotations

from datetime import date

from pydantic import Field

from rocm3d.model.base import Record


class FitMemory(Record):
    """`fits` is None if the card shares the system memory, whose size is unknown."""

    mode: str
    gb: float
    fits: bool | None
    tight: bool = Field(default=False, description="fits, but leaves no memory for the driver or a larger input")
    jobs: int | None = Field(default=None, description="number of jobs that fit at the same time, by memory alone")
    offload: bool = Field(default=False, description="part of the weights is in system memory")
    known: date | None = None
    source: str = ""
