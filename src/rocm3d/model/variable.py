"""An environment variable of ROCm, torch or a library, with advice."""

from __future__ import annotations

from pydantic import Field

from rocm3d.model.source import Fact, Gfx, Range


class Variable(Fact):
    """A file of knowledge/variables/, named after the variable."""

    id: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$")
    meaning: str
    advice: str
    read_by: tuple[str, ...] = Field(min_length=1)
    example: str = ""
    cache: str = Field(
        default="",
        description="default folder of compiled kernels; ~ and {user} are replaced, {temp} is the temporary folder",
    )
    harmful_when: str = ""
    rocm: Range = ""
    torch: Range = ""
    gfx: tuple[Gfx, ...] = ()
