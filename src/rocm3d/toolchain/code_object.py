"""Reads AMD code objects: target, wave size and resources of every kernel. Files are untrusted input."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import msgpack
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection, SymbolTableSection

_NT_AMDGPU_METADATA = 32
# Field EF_AMDGPU_MACH of e_flags, as in the AMDGPU usage guide of LLVM.
_MACH_MASK = 0xFF


class CodeObjectError(Exception):
    """The bytes are not an AMD code object, or a corrupt one."""


@dataclass(frozen=True)
class KernelMetadata:
    """Metadata of one kernel. `code_bytes`: size of its symbol, 0 if there is none."""

    name: str
    wave_size: int
    vgprs: int
    sgprs: int
    agprs: int
    lds_bytes: int
    scratch_bytes: int
    vgpr_spills: int
    sgpr_spills: int
    code_bytes: int

    @property
    def spills(self) -> int:
        """Spilled vector and scalar registers."""
        return self.vgpr_spills + self.sgpr_spills


@dataclass(frozen=True)
class CodeObject:
    """One linked AMD ELF file. `features` such as `xnack-`; `mach`: EF_AMDGPU_MACH of e_flags."""

    gfx: str
    features: tuple[str, ...]
    mach: int
    kernels: tuple[KernelMetadata, ...]


def read_code_object(data: bytes) -> CodeObject:
    """Raises CodeObjectError for anything else."""
    try:
        elf = ELFFile(io.BytesIO(data))
        if elf.header["e_machine"] != "EM_AMDGPU":
            raise CodeObjectError(f"ELF machine is {elf.header['e_machine']}")
        metadata = _metadata(elf)
        sizes = _symbol_sizes(elf)
        mach = int(elf.header["e_flags"]) & _MACH_MASK
    except (ELFError, msgpack.exceptions.UnpackException, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CodeObjectError(f"corrupt: {error}") from error
    target, *features = str(metadata.get("amdhsa.target", "")).rpartition("--")[2].split(":")
    kernels = [_kernel(item, sizes) for item in metadata.get("amdhsa.kernels", []) if isinstance(item, dict)]
    return CodeObject(target, tuple(features), mach, tuple(sorted(kernels, key=lambda kernel: kernel.name)))


def _metadata(elf: ELFFile) -> dict[str, Any]:
    for section in elf.iter_sections():
        if not isinstance(section, NoteSection):
            continue
        for note in section.iter_notes():
            if note["n_name"] == "AMDGPU" and note["n_type"] in (_NT_AMDGPU_METADATA, "NT_AMDGPU_METADATA"):
                metadata = msgpack.unpackb(note["n_descdata"], strict_map_key=False)
                return metadata if isinstance(metadata, dict) else {}
    return {}


def _symbol_sizes(elf: ELFFile) -> dict[str, int]:
    table = elf.get_section_by_name(".symtab") or elf.get_section_by_name(".dynsym")
    if not isinstance(table, SymbolTableSection):
        return {}
    return {symbol.name: int(symbol["st_size"]) for symbol in table.iter_symbols() if symbol.name}


def _kernel(entry: dict[str, Any], sizes: dict[str, int]) -> KernelMetadata:
    def integer(key: str) -> int:
        value = entry.get(key, 0)
        return value if isinstance(value, int) else 0

    name = str(entry.get(".name", ""))
    return KernelMetadata(
        name=name,
        wave_size=integer(".wavefront_size"),
        vgprs=integer(".vgpr_count"),
        sgprs=integer(".sgpr_count"),
        agprs=integer(".agpr_count"),
        lds_bytes=integer(".group_segment_fixed_size"),
        scratch_bytes=integer(".private_segment_fixed_size"),
        vgpr_spills=integer(".vgpr_spill_count"),
        sgpr_spills=integer(".sgpr_spill_count"),
        code_bytes=sizes.get(name, 0),
    )
