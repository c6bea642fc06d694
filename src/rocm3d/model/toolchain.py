"""Compilers for AMD targets: how to assemble one out of wheels, and what was found on a machine."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.source import Fact, Gfx, Identifier

ToolchainKind = Literal["rocm", "clang", "wheels"]
"""rocm: an installed ROCm with its own headers; clang: a system clang with HIP; wheels: assembled by us."""

Headers = Literal["real", "mixed", "declared"]
"""real: of one ROCm release; mixed: of several; declared: some are only declarations of ours."""


class Taken(Record):
    """A folder or file of a wheel, and where it goes; `missing_only` leaves what is there already."""

    prefix: str
    to: str
    missing_only: bool = False


class WheelPart(Record):
    """A wheel that is unpacked in part and never installed. Without a digest it is the one the index gives."""

    distribution: str
    version: str
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    python: str = ""
    platforms: tuple[str, ...] = ()
    megabytes: int = Field(gt=0, description="what is downloaded, at most")
    takes: tuple[Taken, ...] = Field(min_length=1)
    why: str


class TorchWheel(WheelPart):
    """A torch of which only headers and hipify are taken, so it may be the wheel of any platform."""

    folder: str = Field(description="where it is unpacked")
    hipify: Literal[1, 2] = Field(description="the generation of its hipify; a port built with the other may fail")


class HeaderPatch(Record):
    """A text in an unpacked header that the compiler no longer takes."""

    path: str
    old: str
    new: str
    why: str


class ControlLibrary(Record):
    """One oclc_* bitcode file: a constant that the device library reads."""

    name: str
    symbol: str
    type: Literal["i8", "i32"]
    value: int


class WheelToolchain(Fact):
    """A file of knowledge/toolchains/: what is put together, from where, for which targets."""

    id: Identifier
    title: str
    hip: str = Field(pattern=r"^\d+\.\d+\.\d+$")
    clang_major: int
    compiler_module: str
    resource_module: str
    resource_folder: str
    extra: str
    targets: tuple[Gfx, ...] = Field(min_length=1)
    wheels: tuple[WheelPart, ...] = Field(min_length=1)
    torches: tuple[TorchWheel, ...] = Field(min_length=1, description="best first, one for each generation of hipify")
    patches: tuple[HeaderPatch, ...] = ()
    libraries: tuple[ControlLibrary, ...] = ()
    empty_libraries: tuple[str, ...] = ()


class FoundToolchain(Record):
    """One way to make AMD code here. `lacks` says why it cannot be used; `targets` were compiled and read back."""

    kind: ToolchainKind
    title: str
    hip: str = ""
    headers: Headers = "real"
    torch: str = Field(default="", description="versions of the torch headers that go with it")
    targets: tuple[Gfx, ...] = ()
    lacks: str = ""


class Toolchains(Document):
    """What `rocm3d toolchain` shows, best first."""

    found: tuple[FoundToolchain, ...]
