"""Compilers for AMD targets: how to assemble one from wheels, which ones a machine has, and what is in binaries."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.source import Fact, Gfx, Identifier

ToolchainKind = Literal["rocm", "clang", "wheels"]
"""rocm: an installed ROCm with its own headers; clang: a system clang with HIP; wheels: assembled by rocm3d."""

Headers = Literal["real", "mixed", "declared"]
"""real: from one ROCm release; mixed: from several; declared: some are declaration-only headers of rocm3d."""


Device = Literal["amd", "cuda", "amd and cuda", "none", "unknown"]
"""none: no device code, as in a build that silently became CPU-only; unknown: device code that we cannot read."""


class WheelContent(Record):
    """A folder or file of a wheel and its destination. `missing_only` does not overwrite existing files."""

    prefix: str
    to: str
    missing_only: bool = False


class WheelPart(Record):
    """A wheel that is partly unpacked and never installed. Without a digest it is the one from the index."""

    distribution: str
    version: str
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    python: str = ""
    platforms: tuple[str, ...] = ()
    megabytes: int = Field(gt=0, description="maximum download size")
    takes: tuple[WheelContent, ...] = Field(min_length=1)
    why: str


class TorchWheel(WheelPart):
    """A torch wheel of which only headers and hipify are used, so the wheel of any platform works."""

    folder: str = Field(description="destination of the unpacked files")
    hipify: Literal[1, 2] = Field(description="generation of its hipify; a port made for the other may not build")


class HeaderPatch(Record):
    """A text in an unpacked header that the compiler no longer accepts, and its replacement."""

    path: str
    old: str
    new: str
    why: str


class ControlLibrary(Record):
    """One oclc_* bitcode file: a constant for the device library."""

    name: str
    symbol: str
    type: Literal["i8", "i32"]
    value: int


class WheelToolchain(Fact):
    """A file of knowledge/toolchains/: a compiler that is assembled from wheels."""

    id: Identifier
    title: str
    hip: str = Field(pattern=r"^\d+\.\d+\.\d+$")
    clang_major: int
    compiler_module: str
    resource_module: str
    resource_folder: str
    extra: str
    seconds: int = Field(gt=0, description="about how long it takes to prepare, at 10 MB/s")
    targets: tuple[Gfx, ...] = Field(min_length=1)
    wheels: tuple[WheelPart, ...] = Field(min_length=1)
    torches: tuple[TorchWheel, ...] = Field(min_length=1, description="best first, one per generation of hipify")
    patches: tuple[HeaderPatch, ...] = ()
    libraries: tuple[ControlLibrary, ...] = ()
    empty_libraries: tuple[str, ...] = ()


class DetectedToolchain(Record):
    """A compiler for AMD targets. `lacks` is why it cannot be used; `targets` were tested by compiling a kernel."""

    kind: ToolchainKind
    title: str
    hip: str = ""
    headers: Headers = "real"
    torch: str = Field(default="", description="versions of its torch headers")
    targets: tuple[Gfx, ...] = ()
    lacks: str = ""


class Toolchains(Document):
    """The result of `rocm3d toolchain`, best first."""

    found: tuple[DetectedToolchain, ...]


class TargetCode(Record):
    """Device code for one AMD target in one file."""

    gfx: str
    features: tuple[str, ...] = ()
    wave_sizes: tuple[int, ...] = ()
    kernels: int = 0
    empty_kernels: int = 0
    spilling_kernels: int = 0


class InspectedBinary(Record):
    """One object or library. `cuda` lists sm_ and compute_ names; `libraries` is what the loader will search for."""

    path: str
    device: Device
    targets: tuple[TargetCode, ...] = ()
    cuda: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    python: str = ""
    uses_torch: bool = False
    cxx11_abi: bool | None = None
    notes: tuple[str, ...] = ()


class Inspection(Document):
    """The result of `rocm3d inspect`: one file, or every binary of a wheel."""

    name: str
    distribution: str = ""
    requires: tuple[str, ...] = ()
    binaries: tuple[InspectedBinary, ...]

    @property
    def gfx(self) -> tuple[str, ...]:
        """All AMD targets, sorted."""
        return tuple(sorted({target.gfx for binary in self.binaries for target in binary.targets}))

    @property
    def device(self) -> Device:
        """The device code of all binaries together."""
        kinds = {binary.device for binary in self.binaries}
        if "amd and cuda" in kinds or {"amd", "cuda"} <= kinds:
            return "amd and cuda"
        return next((kind for kind in ("amd", "cuda", "unknown") if kind in kinds), "none")
