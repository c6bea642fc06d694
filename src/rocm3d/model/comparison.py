"""An AMD card compared with NVIDIA cards for one repository: values, dates and sources, no score."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.card import Cloud, Fp8, Price, Vendor
from rocm3d.model.memory import FitMemory
from rocm3d.model.package import Decision
from rocm3d.model.plan import EffortCounts
from rocm3d.model.source import Confidence, Source

Lead = Literal["gpu", "rival", "even", "unknown"]
"""Which card is better, the AMD GPU or its rival; unknown: a record is missing, or the value has no better side."""


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
