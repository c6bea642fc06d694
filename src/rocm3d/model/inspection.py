"""Device code and dependencies of a binary or a wheel."""

from __future__ import annotations

from typing import Literal

from rocm3d.model.base import Document, Record

Device = Literal["amd", "cuda", "amd and cuda", "none", "unknown"]
"""none: no device code, as in a build that silently became CPU-only; unknown: device code that we cannot read."""


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
