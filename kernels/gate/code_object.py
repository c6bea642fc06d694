"""Reads the metadata of an hsaco: target, wave size, and the registers and LDS that its kernel uses."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

import msgpack
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

METADATA = 32  # NT_AMDGPU_METADATA, LLVM's User Guide for AMDGPU, section Note Records


@dataclass(frozen=True)
class CodeObject:
    """Resources of one kernel; `scratch` and `lds` in bytes."""

    target: str
    wave: int
    vgprs: int
    sgprs: int
    spills: int
    scratch: int
    lds: int


def read(hsaco: bytes) -> CodeObject:
    """From the note section that the loader reads. Raises ValueError if there is none."""
    for section in ELFFile(io.BytesIO(hsaco)).iter_sections():
        if not isinstance(section, NoteSection):
            continue
        for note in section.iter_notes():
            if note["n_type"] in (METADATA, "NT_AMDGPU_METADATA"):
                described = note["n_descdata"]
                raw = described if isinstance(described, bytes) else bytes(described, "latin-1")
                return _from_metadata(msgpack.unpackb(raw[: note["n_descsz"]]))
    raise ValueError("the code object has no AMDGPU metadata")


def _from_metadata(metadata: dict[str, object]) -> CodeObject:
    kernel = metadata["amdhsa.kernels"][0]  # type: ignore[index]
    return CodeObject(
        target=_gfx_target(str(metadata["amdhsa.target"])),
        wave=kernel[".wavefront_size"],
        vgprs=kernel[".vgpr_count"],
        sgprs=kernel[".sgpr_count"],
        spills=kernel[".vgpr_spill_count"] + kernel[".sgpr_spill_count"],
        scratch=kernel[".private_segment_fixed_size"],
        lds=kernel[".group_segment_fixed_size"],
    )


def _gfx_target(triple: str) -> str:
    """The target of `amdgcn-amd-amdhsa--gfx90a:xnack-` and of newer spellings."""
    match = re.search(r"gfx[0-9a-f]+", triple)
    return match[0] if match else triple
