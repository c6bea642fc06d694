"""Backend checks: whether an installed package computes the right result on the GPU. Parsed from a payload's output.

Goldens: recorded results of a program on one machine, and their comparison with those of another.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from rocm3d.model.base import Document, Record

BackendOutcome = Literal["accelerated", "fallback", "broken", "absent", "not_run", "imported"]
"""fallback: right results, slow path; broken: no result or a wrong one; imported: only the import was checked."""


class WorstElement(Record):
    """The element with the largest error relative to the tolerance. Numbers are text, because JSON has no NaN."""

    index: tuple[int, ...]
    got: str
    wanted: str


class NumericCheck(Record):
    """One result compared with its reference. Without a tolerance it must be equal."""

    name: str
    tolerance: str = ""
    agrees: bool
    reason: str = ""
    max_error: float | None = None
    worst: WorstElement | None = None


class ImportedModule(Record):
    """A module as it was imported. `stands_in` is how a drop-in or stub of rocm3d marks itself."""

    name: str
    file: str
    version: str = ""
    distribution: str = ""
    origin: Literal["environment", "repository", "editable", "elsewhere"]
    stands_in: str = ""


class BackendCheck(Record):
    """One backend check, run in its own process. `kernels` is None if no profile was available."""

    package: str = ""
    probe: str
    outcome: BackendOutcome
    reason: str = ""
    evidence: Literal["", "library", "kernels", "provider", "device"] = ""
    modules: tuple[ImportedModule, ...] = ()
    libraries: tuple[str, ...] = ()
    kernels: tuple[str, ...] | None = None
    backends: tuple[str, ...] = Field(default=(), description="backends of the kernels, by kernel name")
    checks: tuple[NumericCheck, ...] = ()
    facts: dict[str, Any] = Field(default={})
    seconds: float = 0

    @property
    def label(self) -> str:
        """Its name in reports. The package comes first, because two packages may share a probe."""
        return self.package or self.probe


class SuiteChecks(Record):
    """The backend checks of one suite."""

    suite: str
    title: str
    looks: tuple[BackendCheck, ...]


class Smoke(Document):
    """The result of `rocm3d smoke`: backend checks on the GPU of this machine."""

    machine: str
    interpreter: str
    knowledge_date: str
    suites: tuple[SuiteChecks, ...]

    @property
    def backend_checks(self) -> tuple[BackendCheck, ...]:
        """The backend checks of all suites."""
        return tuple(check for suite in self.suites for check in suite.looks)


class RecordedFile(Record):
    """One file of a recording. `dtype` is the original type if the file stores another one, as for bfloat16."""

    name: str
    path: str
    sha256: str
    dtype: str = ""


class OmittedOutput(Record):
    """A value that is not part of a recording, and the reason."""

    name: str
    reason: str


class Recording(Document):
    """recording.json, next to its files."""

    command: tuple[str, ...]
    exit_code: int | None = Field(description="None: stopped at the time limit")
    seed: int | None = None
    machine: str
    environment: dict[str, str] = Field(default={}, description="as seen inside the program")
    files: tuple[RecordedFile, ...]
    left_out: tuple[OmittedOutput, ...] = ()


class ComparedTensor(NumericCheck):
    """One tensor of two recordings. `got` is the candidate's value, `wanted` the reference's."""

    dtype: str = ""
    shape: tuple[int, ...] = ()
    elements: int = 0
    outside: int = Field(default=0, description="elements outside the tolerance")


class GoldenComparison(Document):
    """The result of `rocm3d golden compare`."""

    reference: str
    candidate: str
    reference_environment: dict[str, str] = Field(default={})
    candidate_environment: dict[str, str] = Field(default={})
    tensors: tuple[ComparedTensor, ...]

    @property
    def agrees(self) -> bool:
        """Whether there is at least one tensor and all tensors agree."""
        return bool(self.tensors) and all(tensor.agrees for tensor in self.tensors)
