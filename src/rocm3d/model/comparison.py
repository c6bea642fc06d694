"""An AMD card beside NVIDIA cards for one repository: every row with values, dates and sources, never a score."""

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
"""Which card has the better of it, the AMD GPU or its rival; unknown: a record is missing, or more is not better."""


class CardFacts(Record):
    """One card as it is compared; of an AMD one the target's record and the card's together. None: not on record."""

    id: str
    title: str
    vendor: Vendor
    target: str | None = Field(default=None, description="the record that memory size, FP8 and matrix are from; AMD")
    memory_gb: float | None = Field(description="of one device; None: as much as the system has")
    unified: bool
    devices: int
    memory_kind: str
    bandwidth_gbs: float | None = Field(description="of one device")
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
    modes: tuple[FitMemory, ...] = Field(default=(), description="ways of running the repository against its memory")


class Aspect(Record):
    """One row. `cuda`, `leads` and `says` have one entry for each NVIDIA card, in the order of `against`."""

    name: str
    rocm: str
    cuda: tuple[str, ...]
    leads: tuple[Lead, ...]
    says: tuple[str, ...]


class Loss(Record):
    """What a repository goes without on ROCm, or cannot have at all."""

    name: str
    decision: Decision
    why: str


class DependencyCost(Record):
    """What the dependencies cost on ROCm, from the plan; on NVIDIA they install as the repository says."""

    stack: str | None
    counts: dict[Decision, int]
    losses: tuple[Loss, ...]
    stand_ins: tuple[Loss, ...] = Field(description="something of ours under the same import name, and nothing lost")
    blocked: tuple[Loss, ...]
    edits: int
    effort: EffortCounts


class Choice(Record):
    """One answer: what speaks for it, and what it costs."""

    platform: Literal["CUDA", "ROCm", "hybrid"]
    reasons: tuple[str, ...]
    costs: tuple[str, ...]


class Comparison(Record):
    """CUDA, ROCm or both. `dependencies` is None where no checkout was looked at."""

    gpu: CardFacts
    against: tuple[CardFacts, ...]
    chosen: str = Field(description="why these cards")
    aspects: tuple[Aspect, ...]
    dependencies: DependencyCost | None
    forces_cuda: tuple[str, ...] = Field(description="components that have no route on ROCm")
    choices: tuple[Choice, ...]
    conclusion: str
