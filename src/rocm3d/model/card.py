"""A card as people compare it: memory speed, number formats, what it costs and where it can be rented, all dated."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field, model_validator

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Identifier, Source

Vendor = Literal["amd", "nvidia"]
Fp8 = Literal["none", "fnuz", "ocp"]
Way = Literal["buy", "rent"]
"""rent: one GPU for one hour."""
Availability = Literal["yes", "rare", "no"]
"""yes: large clouds or many providers; rare: few; no: none of those looked at."""


class Price(Record):
    """What somebody asked for a card at a date. Nobody pays the same, so it is a range."""

    way: Way
    low: float = Field(gt=0)
    high: float = Field(gt=0)
    currency: str = Field(pattern=r"^[A-Z]{3}$")
    known: date
    note: str = Field(default="", description="what the price is of, where it is not the bare card")
    source: Source

    @model_validator(mode="after")
    def _low_comes_first(self) -> Price:
        if self.low > self.high:
            raise ValueError(f"low is {self.low:g}, above high, {self.high:g}")
        return self


class Cloud(Record):
    """Whether a card can be rented."""

    available: Availability
    where: str
    known: date
    source: Source


class Card(Fact):
    """A file of knowledge/cards/. An AMD card bears its product's id; size of memory, FP8 and matrix stand there."""

    id: Identifier
    title: str
    vendor: Vendor
    names: tuple[str, ...] = ()
    memory_gb: int | None = Field(default=None, gt=0, description="of an AMD card: see its target")
    memory_kind: str
    unified: bool = Field(default=False, description="processor and GPU share it; of an AMD card: see its target")
    devices: int = Field(default=1, ge=1, description="GPUs that a program sees, each with its share of the memory")
    bandwidth_gbs: float | None = Field(default=None, gt=0, description="of the whole card, peak")
    bf16: bool | None = None
    fp8: Fp8 | None = Field(default=None, description="of an AMD card: see its target")
    matrix: Literal["none", "tensor"] | None = Field(default=None, description="of an AMD card: see its target")
    watts: int | None = Field(default=None, gt=0, description="board power")
    prices: tuple[Price, ...] = ()
    cloud: Cloud | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_amd(self) -> bool:
        """Whether the rest of what is known stands in a target's record."""
        return self.vendor == "amd"

    @model_validator(mode="after")
    def _says_each_thing_once(self) -> Card:
        given = {"memory_gb": self.memory_gb, "fp8": self.fp8, "matrix": self.matrix}
        wrong = [key for key, value in given.items() if (value is not None) == self.is_amd]
        if wrong:
            why = "stands in the record of its target" if self.is_amd else "is missing"
            raise ValueError(f"{', '.join(wrong)} {why}")
        return self
