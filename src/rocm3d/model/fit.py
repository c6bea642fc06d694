"""How viable a repository is on a GPU, with dated reasons, and how the GPU compares with NVIDIA cards.

The comparison has values, dates and sources, and no score.
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.card import Cloud, Fp8, Price, Vendor
from rocm3d.model.package import Decision, Licence
from rocm3d.model.plan import EffortCounts
from rocm3d.model.source import Confidence, Source
from rocm3d.model.target import Gpu

Viability = Literal["High", "Medium", "Medium-Low", "Low", "Very Low", "Not viable"]
Lead = Literal["gpu", "rival", "even", "unknown"]
"""Which card is better, the AMD GPU or its rival; unknown: a record is missing, or the value has no better side."""


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


class CardFacts(Record):
    """Facts about one card. For an AMD card the records of target and card are merged. None: no record."""

    id: str
    title: str
    vendor: Vendor
    target: str | None = Field(default=None, description="AMD: the record with memory size, FP8 and matrix units")
    memory_gb: float | None = Field(description="of one device; None: shares the system memory")
    unified: bool
    devices: int
    memory_kind: str
    bandwidth_gbs: float | None = Field(description="of one device, in GB/s")
    bf16: bool | None
    fp8: Fp8
    matrix: str
    watts: int | None
    prices: tuple[Price, ...]
    cloud: Cloud | None
    notes: tuple[str, ...]
    checked: date
    confidence: Confidence
    sources: tuple[Source, ...]
    modes: tuple[FitMemory, ...] = Field(default=(), description="which modes of the repository fit in its memory")


class ComparisonRow(Record):
    """One row. `cuda`, `leads` and `says` have one entry per NVIDIA card, in the order of `against`."""

    name: str
    rocm: str
    cuda: tuple[str, ...]
    leads: tuple[Lead, ...]
    says: tuple[str, ...]


class Loss(Record):
    """A package with reduced features on ROCm, or without a route."""

    name: str
    decision: Decision
    why: str


class DependencyCost(Record):
    """The cost of the dependencies on ROCm, from the plan. On NVIDIA they install unchanged."""

    stack: str | None
    counts: dict[Decision, int]
    losses: tuple[Loss, ...]
    stand_ins: tuple[Loss, ...] = Field(description="drop-ins under the same import name, without loss of features")
    blocked: tuple[Loss, ...]
    edits: int
    effort: EffortCounts


class Choice(Record):
    """One platform with its reasons and costs."""

    platform: Literal["CUDA", "ROCm", "hybrid"]
    reasons: tuple[str, ...]
    costs: tuple[str, ...]


class Comparison(Record):
    """CUDA, ROCm or both. `dependencies` is None if no checkout was scanned."""

    gpu: CardFacts
    against: tuple[CardFacts, ...]
    chosen: str = Field(description="why these cards are compared")
    aspects: tuple[ComparisonRow, ...]
    dependencies: DependencyCost | None
    forces_cuda: tuple[str, ...] = Field(description="components without a route on ROCm")
    choices: tuple[Choice, ...]
    conclusion: str


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
