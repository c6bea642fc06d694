"""run.json: the record of one run of a workload."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from rocm3d.model.artifact import Artifact
from rocm3d.model.base import Commit, Digest, Document, Record
from rocm3d.model.evidence import MissingLink, SealedFile

RunStatus = Literal["finished", "failed", "out_of_memory", "killed", "timed_out", "interrupted"]


class InstalledPackage(Record):
    """An installed distribution. `origin` is empty if it came from an index, else its URL or folder."""

    name: str
    version: str
    origin: str = ""


class Manifest(Record):
    """The environment of the run. Values that could not be read are empty."""

    machine: str
    gpu: str = ""
    gfx: str = ""
    gpu_bytes: int = 0
    driver: str = ""
    rocm: str = Field(default="", description="the HIP version that torch was built for")
    cuda: str = Field(default="", description="the CUDA version that torch was built for")
    torch: str = ""
    python: str = ""
    interpreter: str = ""
    packages: tuple[InstalledPackage, ...] = ()
    variables: dict[str, str] = Field(default={}, description="those that affect the run; without secrets")
    commit: Commit = ""
    dirty: tuple[str, ...] | None = Field(
        default=None, description="uncommitted paths; None: not a git repository, or git refuses to read it"
    )
    folder: str = Field(default="", description="working folder, relative to the repository; empty: its root")
    sources: Digest = Field(default="", description="digest of the repository's code before the run; empty: unknown")


class LoadedModule(Record):
    """A watched module. `stands_in` is how a drop-in or stub of rocm3d marks itself."""

    name: str
    file: str
    version: str = ""
    stands_in: str = ""


class ImportFallback(Record):
    """A watched module whose import failed while the program continued."""

    module: str
    reason: str
    where: str = Field(description="FILE:LINE of the import")


class KernelTime(Record):
    """One kernel in the profiled windows, and the backend that its name identifies."""

    name: str
    calls: int
    microseconds: float
    backend: str = ""
    operation: str = ""


class AttentionBackend(Record):
    """The backend that torch chose for scaled_dot_product_attention, as reported by torch."""

    way: str
    device: str
    dtype: str
    calls: int


class Steps(Record):
    """Steps of a loop. The first step is counted separately, because it may compile kernels."""

    kind: str
    count: int
    first_seconds: float
    steady_seconds: float | None = Field(description="median of all other steps")
    points: tuple[float, ...] = Field(default=(), description="seconds of a sample of steps, including the first")
    every: int = Field(default=1, ge=1, description="number of steps from one point to the next")


class MemoryPoint(Record):
    """Memory in use at one time, in seconds since the start."""

    seconds: float
    bytes: int


class PeakMemory(Record):
    """Peak memory in bytes; None if it could not be measured. Points are samples over time, for a plot."""

    gpu_allocated: int | None = None
    gpu_reserved: int | None = None
    host: int | None = None
    gpu_points: tuple[MemoryPoint, ...] = ()
    host_points: tuple[MemoryPoint, ...] = ()


class ExpectationResult(Record):
    """An expectation of a run and the value that was found."""

    expectation: str
    met: bool
    found: str
    source: str = Field(default="", description="where the expectation comes from; empty: the command line")


class RunRecord(Document):
    """run.json. `missing` lists evidence that could not be collected."""

    name: str
    command: tuple[str, ...]
    started: datetime
    seconds: float
    limit: float
    status: RunStatus
    exit_code: int | None = Field(description="None: stopped by a signal or the time limit")
    reason: str = Field(default="", description="why the run did not finish")
    manifest: Manifest
    modules: tuple[LoadedModule, ...] = ()
    fallbacks: tuple[ImportFallback, ...] = ()
    libraries: tuple[str, ...] = ()
    attention: tuple[AttentionBackend, ...] = ()
    kernels: tuple[KernelTime, ...] = ()
    profiled_seconds: float = 0.0
    backends: dict[str, tuple[str, ...]] = Field(default={}, description="by operation, sorted by time, largest first")
    memory: PeakMemory = PeakMemory()
    steps: tuple[Steps, ...] = ()
    cold_caches: tuple[str, ...] = ()
    output_left_out: int = Field(
        default=0, description="bytes of output that were not kept: only its first and last part are"
    )
    files: tuple[SealedFile, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    expectations: tuple[ExpectationResult, ...] = ()
    missing: tuple[MissingLink, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the run finished and met every expectation."""
        return self.status == "finished" and all(expectation.met for expectation in self.expectations)
