"""Numbers that a program gave on one machine, and how those of another compare."""

from __future__ import annotations

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.look import Check


class RecordedFile(Record):
    """One file of a recording. `dtype` is the type it had where the file's own is another, as for bfloat16."""

    name: str
    path: str
    sha256: str
    dtype: str = ""


class LeftOut(Record):
    """What is not part of a recording, and why."""

    name: str
    reason: str


class Recording(Document):
    """recording.json, in the folder that holds its files."""

    command: tuple[str, ...]
    exit_code: int | None = Field(description="None: it was ended at its time limit")
    seed: int | None = None
    machine: str
    environment: dict[str, str] = Field(default={}, description="as the program itself saw it")
    files: tuple[RecordedFile, ...]
    left_out: tuple[LeftOut, ...] = ()


class ComparedTensor(Check):
    """One tensor of two recordings; `got` is the candidate's, `wanted` the reference's."""

    dtype: str = ""
    shape: tuple[int, ...] = ()
    elements: int = 0
    outside: int = Field(default=0, description="elements that are not within the tolerance")


class GoldenComparison(Document):
    """What `rocm3d golden compare` shows."""

    reference: str
    candidate: str
    reference_environment: dict[str, str] = Field(default={})
    candidate_environment: dict[str, str] = Field(default={})
    tensors: tuple[ComparedTensor, ...]

    @property
    def agrees(self) -> bool:
        """Whether there is something to compare, and all of it agrees."""
        return bool(self.tensors) and all(item.agrees for item in self.tensors)
