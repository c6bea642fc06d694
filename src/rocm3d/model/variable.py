"""An environment variable of ROCm, torch or a library, and what to do about it."""

from __future__ import annotations

from pydantic import Field

from rocm3d.model.source import Fact, Gfx, Range


class Variable(Fact):
    """A file of knowledge/variables/, named for the variable."""

    id: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$")
    meaning: str
    advice: str
    read_by: tuple[str, ...] = Field(min_length=1)
    example: str = ""
    cache: str = Field(
        default="",
        description="where compiled kernels lie if it is not set; ~ and {user} are the user's, {temp} the system's",
    )
    harmful_when: str = ""
    rocm: Range = ""
    torch: Range = ""
    gfx: tuple[Gfx, ...] = ()
