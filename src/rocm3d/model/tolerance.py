"""Numeric tolerances by name, for all tests and comparisons."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Identifier


class Tolerance(Fact):
    """The allowed difference for one dtype and class of operation, with the reason for its size."""

    id: Identifier
    dtype: Literal["float64", "float32", "tf32", "float16", "bfloat16", "float8", "int"]
    operation: str
    rtol: float = Field(ge=0)
    atol: float = Field(ge=0)
    reason: str


class ToleranceTable(Record):
    """The content of tolerances.toml."""

    tolerances: tuple[Tolerance, ...]
