"""Goldens: recorded results of a program on one machine, and their comparison with those of another."""

from __future__ import annotations

from pydantic import Field

from rocm3d.model.backend_check import NumericCheck
from rocm3d.model.base import Document, Record


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
