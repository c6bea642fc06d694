"""A base to build on: one ROCm release with its torch, Python and image."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from rocm3d.model.source import Fact, Gfx, Identifier
from rocm3d.model.wish import Platform


class Stack(Fact):
    """A file of knowledge/stacks/. Which one is newest is computed from `released`, never written."""

    id: Identifier
    title: str
    platforms: tuple[Platform, ...] = Field(min_length=1)
    form: Literal["container", "system", "pip"]
    rocm: str = Field(pattern=r"^\d+(\.\d+)+$")
    torch: str = Field(pattern=r"^\d+(\.\d+)+$")
    python: str = Field(pattern=r"^3\.\d+$")
    image: str = Field(default="", description="what a Dockerfile starts from; for pip one without torch")
    index: str = ""
    requirements: tuple[str, ...] = Field(
        default=(), description="what to take from the index where torch is not there yet; {gfx} is the target"
    )
    hipify: Literal[1, 2] = 1
    provides: dict[str, str] = Field(
        default={}, description="distributions that come with it, by their names there, and their releases"
    )
    gfx: tuple[Gfx, ...] = Field(min_length=1)
    released: date
    tried: bool = Field(default=True, description="packages of this field are reported to run on it, not torch alone")
    good_for: tuple[str, ...] = ()
    traps: tuple[str, ...] = ()
