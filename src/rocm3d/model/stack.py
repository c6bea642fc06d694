"""A base to build on: one ROCm release with its torch, Python and image."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from rocm3d.model.source import Fact, Gfx, Identifier


class Stack(Fact):
    """A file of knowledge/stacks/. Which one is newest is computed from `released`, never written."""

    id: Identifier
    title: str
    platforms: tuple[Literal["linux", "wsl", "windows"], ...] = Field(min_length=1)
    form: Literal["container", "system", "pip"]
    rocm: str = Field(pattern=r"^\d+(\.\d+)+$")
    torch: str = Field(pattern=r"^\d+(\.\d+)+$")
    python: str = Field(pattern=r"^3\.\d+$")
    image: str = ""
    index: str = ""
    hipify: Literal[1, 2] = 1
    gfx: tuple[Gfx, ...] = Field(min_length=1)
    released: date
    good_for: tuple[str, ...] = ()
    traps: tuple[str, ...] = ()
