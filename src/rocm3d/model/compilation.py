"""What compiling one translation unit gave. Kept in a cache as JSON, so everything here is plain data."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Record

SideOutcome = Literal["compiled", "failed", "lacks", "timed_out"]
"""lacks: a header is nowhere on this machine, so nothing is known about the code."""


class Remark(Record):
    """A note of the compiler that belongs to an error."""

    path: str
    line: int
    message: str


class Diagnostic(Record):
    """An error as the compiler gave it: a place in the translated text, and the notes after it."""

    path: str
    line: int
    column: int
    message: str
    remarks: tuple[Remark, ...] = ()


class KernelFacts(Record):
    """What was read back of one kernel; for CUDA only the name and whether it does anything."""

    name: str
    wave_size: int = 0
    vgprs: int = 0
    sgprs: int = 0
    lds_bytes: int = 0
    scratch_bytes: int = 0
    spills: int = 0
    empty: bool = False


class Side(Record):
    """One compile of a unit: for a gfx target, for the host, or by nvcc."""

    side: str
    outcome: SideOutcome
    errors: tuple[Diagnostic, ...] = ()
    lacks: str = Field(default="", description="the header that is nowhere")
    kernels: tuple[KernelFacts, ...] = ()
    own_headers: tuple[str, ...] = Field(default=(), description="those of rocm3d's declared headers that were used")
    given_headers: bool = Field(default=False, description="whether headers named by --hip-headers were used")


class Kept(Record):
    """A result with the files that it was made of, by digest."""

    files: dict[str, str]
    result: Side


class KeptResults(Record):
    """All results for one unit and one set of flags that are remembered."""

    results: tuple[Kept, ...] = ()
