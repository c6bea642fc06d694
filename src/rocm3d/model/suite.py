"""Which looks belong together when a machine is tried out: `rocm3d smoke`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Identifier

ProbeName = Annotated[str, Field(pattern=r"^[a-z0-9_]*$")]
"""The stem of a file in payload/probes/; empty: none."""


class OwnProbe(Record):
    """A probe that belongs to no package record: what it looks at is imported by these names."""

    probe: ProbeName
    modules: tuple[str, ...] = Field(min_length=1)


class Suite(Fact):
    """Packages by their ids, each with the probe of its record, and probes of its own."""

    id: Identifier
    title: str
    base: bool = Field(default=False, description="what every other look rests on: part of every verification")
    packages: tuple[Identifier, ...] = ()
    probes: tuple[OwnProbe, ...] = ()

    @model_validator(mode="after")
    def _is_not_empty(self) -> Suite:
        if not self.packages and not self.probes:
            raise ValueError(f"suite {self.id!r} has nothing to look at")
        return self


class SuiteTable(Record):
    """The whole of suites.toml."""

    suites: tuple[Suite, ...]
