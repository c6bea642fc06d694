"""The verdicts of probes. A check that did not run has a reason and never counts as passed.

The result of compiling one translation unit is plain data, because the cache stores it as JSON.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from pydantic import Field, model_validator

from rocm3d.model.base import Digest, Document, Record
from rocm3d.model.task import PortTask

Level = Literal["static", "resolve", "compile", "nvidia", "import", "backend", "numerics", "workload"]
Outcome = Literal["passed", "failed", "skipped", "not_run"]
HOST = "host"
"""The target of what was compiled for the host."""
NO_BACKEND_CHECK = "no backend check exists"
"""The reason for packages that no backend check knows: nothing can be shown about them."""
CompileOutcome = Literal["compiled", "failed", "lacks", "timed_out", "cut_off"]
"""lacks: a header is missing on this machine, so the code was not checked. timed_out: the compiler was stopped at a
limit. cut_off: the budget of all compiles ended first."""


class Verdict(Record):
    """The result of one probe. `looked_at` lists what was checked.

    `target`: the gfx target, or `host`, if the result holds for that one alone. `subject`: the unit, file or package.
    `tree`: a digest of the files that were checked; a verdict of another tree is stale.
    """

    level: Level
    probe: str
    outcome: Outcome
    reason: str = ""
    looked_at: tuple[str, ...] = ()
    target: str = ""
    subject: str = ""
    tree: Digest = ""
    tasks: tuple[PortTask, ...] = Field(default=(), description="for a person, if it failed")

    @property
    def scope(self) -> str:
        """Subject and target as one text; empty if the result holds for everything."""
        return ", ".join(text for text in (self.subject, self.target) if text)

    @model_validator(mode="after")
    def _check_reason(self) -> Verdict:
        if self.outcome == "passed" and not self.looked_at:
            raise ValueError("outcome passed needs looked_at: what was checked")
        if self.outcome != "passed" and not self.reason:
            raise ValueError(f"outcome {self.outcome} needs a reason")
        return self


class Verdicts(Document):
    """verdicts.json."""

    repository: str
    targets: tuple[str, ...]
    verdicts: tuple[Verdict, ...]

    def of_levels(self, levels: Collection[Level]) -> Verdicts:
        """Only the verdicts of these levels."""
        return self.model_copy(update={"verdicts": tuple(item for item in self.verdicts if item.level in levels)})


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
    stopped: str = Field(default="", description="the limit at which the compiler was stopped")
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
