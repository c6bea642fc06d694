"""Generates the files of a ROCm root that no wheel has: control libraries of one constant and the version file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.model.errors import MachineError
from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rocm3d.model.toolchain import WheelToolchain

_TRIPLE = "amdgcn-amd-amdhsa"
_GFX = re.compile(r"gfx([6-9]|1\d)([0-9a-f])([0-9a-f])")


def isa_version(gfx: str) -> int:
    """gfx942 is 9402, gfx90a is 9010, gfx1100 is 11000: major * 1000 + minor * 100 + stepping in decimal."""
    match = _GFX.fullmatch(gfx)
    if match is None:
        raise ValueError(gfx)
    major, minor, stepping = match.groups()
    return int(major) * 1000 + int(minor, 16) * 100 + int(stepping, 16)


def write_device_library(root: Path, recipe: WheelToolchain, clang: Sequence[str]) -> None:
    """Writes the files of the recipe that clang requires in a ROCm root."""
    bitcode = root / "amdgcn" / "bitcode"
    bitcode.mkdir(parents=True, exist_ok=True)
    layout = _data_layout(bitcode, clang)
    for name, text in _library_texts(recipe):
        _assemble(bitcode / f"{name}.bc", f'target datalayout = "{layout}"\ntarget triple = "{_TRIPLE}"\n{text}', clang)
    version = dict(zip(("MAJOR", "MINOR", "PATCH"), recipe.hip.split("."), strict=True))
    (root / "share" / "hip").mkdir(parents=True, exist_ok=True)
    lines = "".join(f"HIP_VERSION_{part}={number}\n" for part, number in version.items())
    (root / "share" / "hip" / "version").write_text(lines, encoding="ascii")


def _library_texts(recipe: WheelToolchain) -> Iterator[tuple[str, str]]:
    for name in recipe.empty_libraries:
        yield name, ""
    for library in recipe.libraries:
        yield f"oclc_{library.name}", _constant(library.symbol, library.type, library.value)
    for gfx in recipe.targets:
        yield f"oclc_isa_version_{gfx.removeprefix('gfx')}", _constant("__oclc_ISA_version", "i32", isa_version(gfx))


def _constant(symbol: str, kind: str, value: int) -> str:
    return f"@{symbol} = linkonce_odr hidden local_unnamed_addr addrspace(4) constant {kind} {value}\n"


def _data_layout(folder: Path, clang: Sequence[str]) -> str:
    """The data layout of this compiler: another one would cause a warning in every compile."""
    probe = folder / "probe.c"
    probe.write_text("void nothing(void) {}\n", encoding="ascii")
    ended = run([*clang, f"--target={_TRIPLE}", "-nogpulib", "-S", "-emit-llvm", str(probe), "-o", "-"])
    probe.unlink()
    match = re.search(r'target datalayout = "([^"]+)"', ended.stdout.decode(errors="replace"))
    if match is None:
        raise MachineError(f"{clang[0]} has no AMD targets: {ended.stderr.decode(errors='replace')[-200:]}")
    return match.group(1)


def _assemble(output: Path, text: str, clang: Sequence[str]) -> None:
    source = output.with_suffix(".ll")
    source.write_text(text, encoding="ascii")
    command = [*clang, f"--target={_TRIPLE}", "-nogpulib", "-c", "-emit-llvm", str(source), "-o", str(output)]
    ended = run(command)
    source.unlink()
    if ended.code != 0:
        raise MachineError(f"cannot assemble {output.name}: {ended.stderr.decode(errors='replace')[-200:]}")
