"""Patterns that identify the backend from the name of a GPU kernel."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Identifier


def _check_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from error
    return text


class Backend(Fact):
    """One pattern over kernel names. `seen` lists real kernel names that must match."""

    id: Identifier
    pattern: Annotated[str, AfterValidator(_check_pattern)]
    backend: str
    operation: Literal[
        "attention", "gemm", "conv", "norm", "raster", "sparse", "elementwise", "copy", "collective", "other"
    ]
    vendor: Literal["amd", "nvidia", "any"]
    generic: bool = Field(default=False, description="torch launches such kernels itself: no proof that a package ran")
    seen: tuple[str, ...] = ()

    @property
    def is_specific(self) -> bool:
        """Whether such a kernel proves that more than plain torch ran."""
        return not self.generic and self.operation in ("attention", "raster", "sparse", "other")

    @model_validator(mode="after")
    def _check_examples(self) -> Backend:
        for name in self.seen:
            if not re.search(self.pattern, name):
                raise ValueError(f"pattern {self.pattern!r} does not match {name!r}")
        return self


class BackendTable(Record):
    """The content of backends.toml. The first match wins."""

    backends: tuple[Backend, ...]
