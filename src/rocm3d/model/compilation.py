"""The result of compiling one translation unit. Plain data, because the cache stores it as JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Record

CompileOutcome = Literal["compiled", "failed", "lacks", "timed_out"]
"""lacks: a header is missing on this machine, so the code was not checked."""


class CompilerNote(Record):
    """A compiler note that belongs to an error."""

    path: str
    line: int
    message: str


class Diagnostic(Record):
    """A compiler error: its position in the translated source, and the notes that follow."""

    path: str
    line: int
    column: int
    message: str
    remarks: tuple[CompilerNote, ...] = ()


class KernelFacts(Record):
    """Facts about one kernel from the compiled object. For CUDA only `name` and `empty`."""

    name: str
    wave_size: int = 0
    vgprs: int = 0
    sgprs: int = 0
    lds_bytes: int = 0
    scratch_bytes: int = 0
    spills: int = 0
    empty: bool = False


class CompileResult(Record):
    """One compilation of a unit: for a gfx target, for the host, or by nvcc."""

    side: str
    outcome: CompileOutcome
    errors: tuple[Diagnostic, ...] = ()
    lacks: str = Field(default="", description="the missing header")
    kernels: tuple[KernelFacts, ...] = ()
    own_headers: tuple[str, ...] = Field(default=(), description="declaration-only headers of rocm3d that were used")
    given_headers: bool = Field(default=False, description="whether headers from --hip-headers were used")


class CachedCompileResult(Record):
    """A cached result with the digests of its input files."""

    files: dict[str, str]
    result: CompileResult


class CachedCompileResults(Record):
    """All cached results for one unit and one set of flags."""

    results: tuple[CachedCompileResult, ...] = ()
