"""A stack: one ROCm release with its torch, Python and image."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from rocm3d.model.lock import Digest
from rocm3d.model.plan_choices import Platform
from rocm3d.model.source import Fact, Gfx, Identifier


class Stack(Fact):
    """A file of knowledge/stacks/. The newest stack is computed from `released`."""

    id: Identifier
    title: str
    platforms: tuple[Platform, ...] = Field(min_length=1)
    form: Literal["container", "system", "pip"]
    rocm: str = Field(pattern=r"^\d+(\.\d+)+$")
    torch: str = Field(pattern=r"^\d+(\.\d+)+$")
    python: str = Field(pattern=r"^3\.\d+$")
    image: str = Field(default="", description="base image of a Dockerfile; for pip an image without torch")
    digest: Digest | None = Field(default=None, description="of the image, for linux/amd64")
    unpinned: str = Field(default="", description="why the digest of the image is not known")
    index: str = ""
    requirements: tuple[str, ...] = Field(
        default=(), description="requirements to install from the index if torch is missing; {gfx} is the target"
    )
    hipify: Literal[1, 2] = 1
    provides: dict[str, str] = Field(default={}, description="distributions that it includes, with their versions")
    gfx: tuple[Gfx, ...] = Field(min_length=1)
    released: date
    tried: bool = Field(default=True, description="3D packages are reported to run on it, not only torch")
    good_for: tuple[str, ...] = ()
    traps: tuple[str, ...] = ()
