"""Reads device code: AMD code objects, clang's offload bundles that hold them, and CUDA fat binaries.

Files are untrusted input. Offload bundles: https://clang.llvm.org/docs/ClangOffloadBundler.html. NVIDIA does not
document fat binaries: we read only the fields that public tools agree on.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgpack
import zstandard
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection, SymbolTableSection

from rocm3d.model.verdict import KernelFacts

_NT_AMDGPU_METADATA = 32
# Size in bytes of s_endpgm: a kernel of this size does nothing.
_EMPTY_KERNEL_BYTES = 4
FATBIN_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
_FATBIN_MAGIC = struct.pack("<I", 0xBA55ED50)
_FATBIN_KINDS = {1: "compute", 2: "sm"}
_FATBIN_ARCH_OFFSET = 28
_MIN_FATBIN_HEADER = 64
PLAIN = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED = b"CCOB"
_ZLIB, _ZSTD = 0, 1
# By version of the compressed format: layout of the fields after version and method, including the hash.
_LAYOUTS = {1: "<IQ", 2: "<IIQ", 3: "<QQQ"}
_MAX_BYTES = 2 * 1024**3
_MAX_ENTRIES = 4096


class CodeObjectError(Exception):
    """The bytes are not an AMD code object, or a corrupt one."""


@dataclass(frozen=True)
class CodeObject:
    """The target of a linked AMD ELF file, and its kernels by name."""

    gfx: str
    kernels: tuple[KernelFacts, ...]


def read_code_object(data: bytes) -> CodeObject:
    """Raises CodeObjectError for anything else."""
    try:
        elf = ELFFile(io.BytesIO(data))
        if elf.header["e_machine"] != "EM_AMDGPU":
            raise CodeObjectError(f"ELF machine is {elf.header['e_machine']}")
        metadata = _metadata(elf)
        sizes = _symbol_sizes(elf)
    except (ELFError, msgpack.exceptions.UnpackException, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CodeObjectError(f"corrupt: {error}") from error
    gfx = str(metadata.get("amdhsa.target", "")).rpartition("--")[2].partition(":")[0]
    kernels = [_kernel(item, sizes) for item in metadata.get("amdhsa.kernels", []) if isinstance(item, dict)]
    return CodeObject(gfx, tuple(sorted(kernels, key=lambda kernel: kernel.name)))


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


def _kernel(entry: dict[str, Any], sizes: dict[str, int]) -> KernelFacts:
    def integer(key: str) -> int:
        value = entry.get(key, 0)
        return value if isinstance(value, int) else 0

    name = str(entry.get(".name", ""))
    return KernelFacts(
        name=name,
        wave_size=integer(".wavefront_size"),
        vgprs=integer(".vgpr_count"),
        sgprs=integer(".sgpr_count"),
        lds_bytes=integer(".group_segment_fixed_size"),
        scratch_bytes=integer(".private_segment_fixed_size"),
        spills=integer(".vgpr_spill_count") + integer(".sgpr_spill_count"),
        empty=sizes.get(name, 0) <= _EMPTY_KERNEL_BYTES,
    )


def read_fatbin(section: bytes) -> list[str]:
    """Sorted targets such as `sm_90`. Unreadable parts are skipped."""
    targets: set[tuple[int, str]] = set()
    offset = section.find(_FATBIN_MAGIC)
    while offset >= 0:
        try:
            header, size = struct.unpack_from("<6xHQ", section, offset)
        except struct.error:
            break
        end = min(offset + header + size, len(section))
        _add_targets(section, offset + header, end, targets)
        offset = section.find(_FATBIN_MAGIC, max(end, offset + 4))
    return [f"{kind}_{number}" for number, kind in sorted(targets)]


def _add_targets(section: bytes, offset: int, end: int, targets: set[tuple[int, str]]) -> None:
    while offset + _MIN_FATBIN_HEADER <= end:
        kind, header, size = struct.unpack_from("<HxxIQ", section, offset)
        (number,) = struct.unpack_from("<I", section, offset + _FATBIN_ARCH_OFFSET)
        if kind not in _FATBIN_KINDS or header < _MIN_FATBIN_HEADER or not number:
            return
        targets.add((number, _FATBIN_KINDS[kind]))
        offset += header + size


class OffloadBundleError(Exception):
    """The bytes start like a bundle but are corrupt or of an unknown version."""


@dataclass(frozen=True)
class BundleEntry:
    """Code for one target, such as gfx942:sramecc+:xnack-. `target` is empty for the host entry."""

    target: str
    data: bytes


def read_bundles(section: bytes) -> Iterator[BundleEntry]:
    """All entries of all bundles in a section. Linkers concatenate bundles with padding between them."""
    position = 0
    while True:
        starts = [offset for magic in (PLAIN, COMPRESSED) if (offset := section.find(magic, position)) >= 0]
        if not starts:
            return
        start = min(starts)
        if section.startswith(PLAIN, start):
            entries, end = _read_plain(section[start:])
        else:
            inner, size = _decompress(section[start:])
            entries, _ = _read_plain(inner)
            end = size
        yield from entries
        position = start + max(end, len(COMPRESSED))


def _read_plain(data: bytes) -> tuple[list[BundleEntry], int]:
    try:
        (count,) = struct.unpack_from("<Q", data, len(PLAIN))
        position, end, entries = len(PLAIN) + 8, len(PLAIN) + 8, []
        if count > _MAX_ENTRIES or not data.startswith(PLAIN):
            raise OffloadBundleError(f"{count} entries")
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", data, position)
            name = data[position + 24 : position + 24 + length].decode("ascii", errors="replace")
            position += 24 + length
            if offset + size > len(data):
                raise OffloadBundleError("an entry extends past the end of the data")
            entries.append(BundleEntry(_target(name), data[offset : offset + size]))
            end = max(end, position, offset + size)
    except struct.error as error:
        raise OffloadBundleError(str(error)) from error
    return entries, end


def _target(name: str) -> str:
    kind, _, triple = name.partition("-")
    return triple.rpartition("--")[2] if kind.startswith("hip") else ""


def _decompress(data: bytes) -> tuple[bytes, int]:
    """The decompressed bundle, and the size in bytes of the compressed one."""
    try:
        version, method = struct.unpack_from("<HH", data, len(COMPRESSED))
        layout = _LAYOUTS.get(version)
        if layout is None:
            raise OffloadBundleError(f"unknown version {version} of the compressed format")
        *sizes, _ = struct.unpack_from(layout, data, 8)
    except struct.error as error:
        raise OffloadBundleError(str(error)) from error
    header = 8 + struct.calcsize(layout)
    # Version 1 has no total size. Both decompressors ignore data after the stream.
    total = sizes[0] if len(sizes) > 1 else len(data)
    if sizes[-1] > _MAX_BYTES or total < header:
        raise OffloadBundleError(f"invalid size: {sizes[-1]} bytes uncompressed")
    packed = data[header:total]
    try:
        if method == _ZSTD:
            return zstandard.ZstdDecompressor().decompressobj().decompress(packed), total
        if method == _ZLIB:
            return zlib.decompressobj().decompress(packed, sizes[-1]), total
    except (zstandard.ZstdError, zlib.error) as error:
        raise OffloadBundleError(str(error)) from error
    raise OffloadBundleError(f"unknown compression method {method}")
