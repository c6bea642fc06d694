"""How viable a repository is on a GPU, with dated reasons."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.comparison import Comparison
from rocm3d.model.memory import FitMemory
from rocm3d.model.package import Licence
from rocm3d.model.target import Gpu

Viability = Literal["High", "Medium", "Medium-Low", "Low", "Very Low", "Not viable"]


class FitPoint(Record):
    """One reason with its effect on the score and its source."""

    effect: int
    why: str
    source: str


class Fit(Document):
    """The result of `rocm3d fit`. `closed` lists points that no longer hold.

    `model`, `viability` and `score` are None for a repository without a record.
    """

    model: str | None
    title: str
    repository: str | None = Field(default=None, description="the folder that was scanned; None: only the record")
    gpu: Gpu
    as_of: date
    viability: Viability | None
    score: int | None
    points: tuple[FitPoint, ...] = ()
    closed: tuple[FitPoint, ...] = ()
    memory: tuple[FitMemory, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="how the memory need was estimated, or why it was not")
    offload: tuple[str, ...] = Field(default=(), description="modes that fit in the memory")
    licence: Licence | None = None
    advice: tuple[str, ...] = ()
    comparison: Comparison | None = None
