"""A GPU card for comparisons: memory bandwidth, number formats, dated prices and cloud availability."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field, model_validator

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Identifier, Source

Vendor = Literal["amd", "nvidia"]
Fp8 = Literal["none", "fnuz", "ocp"]
PriceKind = Literal["buy", "rent"]
"""rent: the price of one GPU for one hour."""
Availability = Literal["yes", "rare", "no"]
"""yes: large clouds or many providers; rare: few providers; no: none of the providers we checked."""


class Price(Record):
    """A price range for a card at a date."""

    way: PriceKind
    low: float = Field(gt=0)
    high: float = Field(gt=0)
    currency: str = Field(pattern=r"^[A-Z]{3}$")
    known: date
    note: str = Field(default="", description="what the price includes, if it is not for the bare card")
    source: Source

    @model_validator(mode="after")
    def _check_range(self) -> Price:
        if self.low > self.high:
            raise ValueError(f"low ({self.low:g}) is above high ({self.high:g})")
        return self


class Cloud(Record):
    """Whether and where a card can be rented."""

    available: Availability
    where: str
    known: date
    source: Source


class Card(Fact):
    """A file of knowledge/cards/. An AMD card has the id of its product; its target has memory size, FP8 and matrix."""

    id: Identifier
    title: str
    vendor: Vendor
    names: tuple[str, ...] = ()
    memory_gb: int | None = Field(default=None, gt=0, description="AMD cards: see the target")
    memory_kind: str
    unified: bool = Field(default=False, description="CPU and GPU share the memory; AMD cards: see the target")
    devices: int = Field(default=1, ge=1, description="GPUs that a program sees, each with its share of the memory")
    bandwidth_gbs: float | None = Field(default=None, gt=0, description="peak of the whole card, in GB/s")
    bf16: bool | None = None
    fp8: Fp8 | None = Field(default=None, description="AMD cards: see the target")
    matrix: Literal["none", "tensor"] | None = Field(default=None, description="AMD cards: see the target")
    watts: int | None = Field(default=None, gt=0, description="board power")
    prices: tuple[Price, ...] = ()
    cloud: Cloud | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_amd(self) -> bool:
        """Whether memory size, FP8 and matrix units are in the record of a target."""
        return self.vendor == "amd"

    @model_validator(mode="after")
    def _check_target_fields(self) -> Card:
        target_fields = {"memory_gb": self.memory_gb, "fp8": self.fp8, "matrix": self.matrix}
        wrong_fields = [key for key, value in target_fields.items() if (value is not None) == self.is_amd]
        if wrong_fields:
            why = "belongs in the record of the target" if self.is_amd else "is missing"
            raise ValueError(f"{', '.join(wrong_fields)} {why}")
        return self
