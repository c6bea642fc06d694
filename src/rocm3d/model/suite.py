"""Suites of backend checks for `rocm3d smoke`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Identifier

ProbeName = Annotated[str, Field(pattern=r"^[a-z0-9_]*$")]
"""The stem of a file in payload/probes/; empty: none."""


class SuiteProbe(Record):
    """A probe without a package record. `modules` are the import names that it checks."""

    probe: ProbeName
    modules: tuple[str, ...] = Field(min_length=1)


class Suite(Fact):
    """Package ids, whose probes come from their records, and further probes."""

    id: Identifier
    title: str
    base: bool = Field(default=False, description="the other suites depend on it: part of every verification")
    packages: tuple[Identifier, ...] = ()
    probes: tuple[SuiteProbe, ...] = ()

    @model_validator(mode="after")
    def _check_not_empty(self) -> Suite:
        if not self.packages and not self.probes:
            raise ValueError(f"suite {self.id!r} needs packages or probes")
        return self


class SuiteTable(Record):
    """The content of suites.toml."""

    suites: tuple[Suite, ...]
