"""Whether a repository is worth trying on a GPU, each point with its reason and date."""

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
    """One reason: what it adds or takes, and who says so."""

    effect: int
    why: str
    source: str


class Fit(Document):
    """What fit says. `closed` are circumstances that held once and no longer do: what changed, and why.

    `model`, `viability` and `score` are None for a repository that no record speaks of.
    """

    model: str | None
    title: str
    repository: str | None = Field(default=None, description="the folder that was looked at; None: the record alone")
    gpu: Gpu
    as_of: date
    viability: Viability | None
    score: int | None
    points: tuple[FitPoint, ...] = ()
    closed: tuple[FitPoint, ...] = ()
    memory: tuple[FitMemory, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="how memory was judged, or why it could not be")
    offload: tuple[str, ...] = Field(default=(), description="which ways of running it are left by the memory")
    licence: Licence | None = None
    advice: tuple[str, ...] = ()
    comparison: Comparison | None = None
