"""Whether a known repository is worth trying on a GPU, each point with its reason and date."""

from __future__ import annotations

from datetime import date
from typing import Literal

from rocm3d.model.base import Document, Record
from rocm3d.model.package import Licence
from rocm3d.model.target import Gpu

Viability = Literal["High", "Medium", "Medium-Low", "Low", "Very Low", "Not viable"]


class FitPoint(Record):
    """One reason: what it adds or takes, and who says so."""

    effect: int
    why: str
    source: str


class FitMemory(Record):
    """One way of running it against the card's memory; `fits` is None where the card shares the system's."""

    mode: str
    gb: float
    fits: bool | None


class Fit(Document):
    """What fit says. `closed` are circumstances that held once and no longer do: what changed, and why."""

    model: str
    title: str
    gpu: Gpu
    as_of: date
    viability: Viability
    score: int
    points: tuple[FitPoint, ...]
    closed: tuple[FitPoint, ...]
    memory: tuple[FitMemory, ...]
    licence: Licence | None
    advice: tuple[str, ...]
