"""What a workload did, as the recorder saw it: run.json."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from rocm3d.model.artifact import Artifact
from rocm3d.model.base import Document, Record
from rocm3d.model.evidence import Missing, Sealed

Status = Literal["finished", "failed", "out_of_memory", "killed", "timed_out", "interrupted"]


class Installed(Record):
    """A distribution of the environment. `origin` is empty for an index, else the URL or folder that it came from."""

    name: str
    version: str
    origin: str = ""


class Manifest(Record):
    """Where it ran. What could not be read is empty."""

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
    packages: tuple[Installed, ...] = ()
    variables: dict[str, str] = Field(default={}, description="those that decide what runs; secrets are not in here")
    commit: str = ""
    dirty: tuple[str, ...] | None = Field(default=None, description="uncommitted paths; None: git does not track it")
    folder: str = Field(default="", description="where in the repository it ran; empty: at its root")
    sources: str = Field(default="", description="digest of the repository's code before it ran; empty: not known")


class LoadedModule(Record):
    """A watched module. `stands_in` is what one of rocm3d says of itself: no stub is taken for the real one."""

    name: str
    file: str
    version: str = ""
    stands_in: str = ""


class ImportFallback(Record):
    """A watched module that was looked for in vain while the program went on."""

    module: str
    reason: str
    where: str = Field(description="FILE:LINE that asked for it")


class KernelTime(Record):
    """One kernel in the windows that were profiled, and the backend that its name betrays."""

    name: str
    calls: int
    microseconds: float
    backend: str = ""
    operation: str = ""


class AttentionWay(Record):
    """What torch's own attention chose, as torch itself says."""

    way: str
    device: str
    dtype: str
    calls: int


class Steps(Record):
    """Steps of a loop. The first one is apart: it may compile kernels."""

    kind: str
    count: int
    first_seconds: float
    steady_seconds: float | None = Field(description="median of all others")
    points: tuple[float, ...] = Field(default=(), description="seconds of some steps, the first one included")
    every: int = Field(default=1, ge=1, description="how many steps lie from one point to the next")


class MemoryPoint(Record):
    """What was taken at one time, in seconds since the start."""

    seconds: float
    bytes: int


class Memory(Record):
    """The most that was taken, in bytes; None where nothing could be seen. Points are looks at times, for a plot."""

    gpu_allocated: int | None = None
    gpu_reserved: int | None = None
    host: int | None = None
    gpu_points: tuple[MemoryPoint, ...] = ()
    host_points: tuple[MemoryPoint, ...] = ()


class Met(Record):
    """An expectation, and what there was instead if it is not met."""

    expectation: str
    met: bool
    found: str
    source: str = Field(default="", description="who expects it; empty: whoever started the run")


class RunRecord(Document):
    """run.json. `missing` names what a reader would expect here and that was not obtained."""

    name: str
    command: tuple[str, ...]
    started: datetime
    seconds: float
    limit: float
    status: Status
    exit_code: int | None = Field(description="None: a signal or the limit ended it")
    reason: str = Field(default="", description="why it did not finish")
    manifest: Manifest
    modules: tuple[LoadedModule, ...] = ()
    fallbacks: tuple[ImportFallback, ...] = ()
    libraries: tuple[str, ...] = ()
    attention: tuple[AttentionWay, ...] = ()
    kernels: tuple[KernelTime, ...] = ()
    profiled_seconds: float = 0.0
    backends: dict[str, tuple[str, ...]] = Field(default={}, description="by operation, the most time first")
    memory: Memory = Memory()
    steps: tuple[Steps, ...] = ()
    cold_caches: tuple[str, ...] = ()
    files: tuple[Sealed, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    expectations: tuple[Met, ...] = ()
    missing: tuple[Missing, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether it finished and every expectation is met."""
        return self.status == "finished" and all(item.met for item in self.expectations)
