"""Lists the device code in a binary: AMD targets, CUDA targets or none. Nothing is loaded or run."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from rocm3d.model.errors import UserError
from rocm3d.model.toolchain import Device, InspectedBinary, Inspection, TargetCode
from rocm3d.toolchain.code_object import (
    FATBIN_SECTIONS,
    PLAIN,
    CodeObjectError,
    OffloadBundleError,
    read_bundles,
    read_code_object,
    read_fatbin,
)

_HIP_SECTION = ".hip_fatbin"
_PYTHON_TAG = re.compile(r"\.(cpython-(\d)(\d+)|cp(\d)(\d+)|abi3)[-.]")
_BINARY_SUFFIX = re.compile(r"\.(so(\.\d+)*|o|hsaco|co|pyd)$")
_MOST_BYTES = 4 * 1024**3
# Mangled namespaces of torch, to search for in the undefined symbols of a library.
_TORCH_NAMESPACES = ("3c10", "2at", "5torch")


def inspect(path: Path) -> Inspection:
    """Inspects a .so, .o, .hsaco or .whl. Raises UserError for other files."""
    if not path.is_file():
        raise UserError(f"no such file: {path}", hint="pass a .so, .o, .hsaco or .whl")
    if zipfile.is_zipfile(path):
        return _inspect_wheel(path)
    binary = _inspect_binary(path.name, path.read_bytes())
    if binary is None:
        raise UserError(f"{path} is neither an ELF file nor a wheel", hint="pass a .so, .o, .hsaco or .whl")
    return Inspection(name=path.name, binaries=(binary,))


def _inspect_wheel(path: Path) -> Inspection:
    binaries, metadata = [], ""
    with zipfile.ZipFile(path) as archive:
        for member in sorted(archive.infolist(), key=lambda item: item.filename):
            if member.filename.endswith(".dist-info/METADATA"):
                metadata = archive.read(member).decode(errors="replace")
            elif _BINARY_SUFFIX.search(member.filename):
                if member.file_size > _MOST_BYTES:
                    raise UserError(f"{member.filename} is too large: {member.file_size} bytes")
                binary = _inspect_binary(member.filename, archive.read(member))
                binaries += [] if binary is None else [binary]
    head = metadata.partition("\n\n")[0]
    fields = re.findall(r"^(Name|Version|Requires-Dist): (.*)$", head, re.MULTILINE)
    name = " ".join(value.strip() for key, value in fields if key != "Requires-Dist")
    requires = tuple(value.strip() for key, value in fields if key == "Requires-Dist")
    return Inspection(name=path.name, distribution=name, requires=requires, binaries=tuple(binaries))


def _inspect_binary(name: str, data: bytes) -> InspectedBinary | None:
    if data.startswith(PLAIN):
        return _inspect_bundles(name, data)
    try:
        code = read_code_object(data)
    except CodeObjectError:
        return _inspect_host_object(name, data)
    return InspectedBinary(path=name, device="amd", targets=(_target_code(code.gfx, data),))


def _inspect_bundles(name: str, data: bytes) -> InspectedBinary:
    targets, notes = _read_amd_targets(data)
    return InspectedBinary(path=name, device="amd" if targets else "unknown", targets=targets, notes=notes)


def _inspect_host_object(name: str, data: bytes) -> InspectedBinary | None:
    try:
        elf = ELFFile(io.BytesIO(data))
        sections = {section.name: section for section in elf.iter_sections()}
        hip, cuda = sections.get(_HIP_SECTION), [sections[key] for key in FATBIN_SECTIONS if key in sections]
        targets, notes = _read_amd_targets(hip.data()) if hip is not None else ((), ())
        architectures = sorted(
            {architecture for section in cuda for architecture in read_fatbin(section.data())},
            key=_architecture_key,
        )
        symbols = list(_undefined_symbols(sections))
        libraries = tuple(_needed_libraries(sections))
    except (ELFError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None
    return InspectedBinary(
        path=name,
        device=_device(amd=bool(targets), hip=hip is not None and hip["sh_size"] > 0, cuda=bool(cuda)),
        targets=targets,
        cuda=tuple(architectures),
        libraries=libraries,
        python=_python_version(name),
        uses_torch=any(mark in symbol for symbol in symbols for mark in _TORCH_NAMESPACES),
        cxx11_abi=_uses_cxx11_abi(symbols),
        notes=notes,
    )


def _device(*, amd: bool, hip: bool, cuda: bool) -> Device:
    if amd:
        return "amd and cuda" if cuda else "amd"
    if cuda:
        return "cuda"
    return "unknown" if hip else "none"


def _read_amd_targets(section: bytes) -> tuple[tuple[TargetCode, ...], tuple[str, ...]]:
    by_target: dict[str, TargetCode] = {}
    notes = []
    try:
        for entry in read_bundles(section):
            if entry.target:
                target = _target_code(entry.target, entry.data)
                by_target[entry.target] = (
                    _merge(by_target[entry.target], target) if entry.target in by_target else target
                )
    except OffloadBundleError as error:
        notes.append(f"cannot read device code: {error}")
    return tuple(by_target[key] for key in sorted(by_target)), tuple(notes)


def _target_code(name: str, data: bytes) -> TargetCode:
    gfx, *features = name.split(":")
    try:
        kernels = read_code_object(data).kernels
    except CodeObjectError:
        return TargetCode(gfx=gfx, features=tuple(features))
    return TargetCode(
        gfx=gfx,
        features=tuple(features),
        wave_sizes=tuple(sorted({kernel.wave_size for kernel in kernels})),
        kernels=len(kernels),
        empty_kernels=sum(kernel.empty for kernel in kernels),
        spilling_kernels=sum(kernel.spills > 0 for kernel in kernels),
    )


def _merge(first: TargetCode, second: TargetCode) -> TargetCode:
    return TargetCode(
        gfx=first.gfx,
        features=first.features,
        wave_sizes=tuple(sorted({*first.wave_sizes, *second.wave_sizes})),
        kernels=first.kernels + second.kernels,
        empty_kernels=first.empty_kernels + second.empty_kernels,
        spilling_kernels=first.spilling_kernels + second.spilling_kernels,
    )


def _undefined_symbols(sections: dict[str, Any]) -> Iterator[str]:
    table = sections.get(".dynsym") or sections.get(".symtab")
    if isinstance(table, SymbolTableSection):
        yield from (symbol.name for symbol in table.iter_symbols() if symbol["st_shndx"] == "SHN_UNDEF" and symbol.name)


def _needed_libraries(sections: dict[str, Any]) -> Iterator[str]:
    dynamic = sections.get(".dynamic")
    if isinstance(dynamic, DynamicSection):
        yield from (str(getattr(tag, "needed", "")) for tag in dynamic.iter_tags("DT_NEEDED"))


def _uses_cxx11_abi(symbols: list[str]) -> bool | None:
    """Whether it uses the C++11 ABI of std::string; None if it passes no strings to torch."""
    if any("__cxx11" in symbol for symbol in symbols):
        return True
    return (
        False
        if any(
            "Ss" in symbol and symbol.startswith("_Z") and any(m in symbol for m in _TORCH_NAMESPACES)
            for symbol in symbols
        )
        else None
    )


def _python_version(name: str) -> str:
    match = _PYTHON_TAG.search(PurePosixPath(name).name)
    if match is None:
        return ""
    _, major, minor, other_major, other_minor = match.groups()
    return f"{major or other_major}.{minor or other_minor}" if major or other_major else "abi3"


def _architecture_key(architecture: str) -> tuple[int, str]:
    kind, _, number = architecture.partition("_")
    return int(number), kind
