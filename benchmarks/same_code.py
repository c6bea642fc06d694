"""Compares the code that nvcc generates for two versions of a unit: PTX, and code and relocations of the host object.

The first version is padded to the line numbers of the second, because asserts contain them.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm3d.toolchain.compiler import Nvcc

# Names that are local to a unit contain a hash of its path and text.
_UNIT_HASH = re.compile(r"(_GLOBAL__N__|_INTERNAL_|__nv_static_\d+__|_cu_)?[0-9a-f]{8}(?=_\d+_)")
_COMMENT = re.compile(r"^//.*$", re.MULTILINE)


def padded_to(before: bytes, after: bytes) -> bytes:
    """The first text with empty lines where the second has additional lines."""
    old, new = before.split(b"\n"), after.split(b"\n")
    lines: list[bytes] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        lines += old[i1:i2]
        if tag in ("insert", "replace"):
            lines += [b""] * max(0, (j2 - j1) - (i2 - i1))
    return b"\n".join(lines)


def differences(  # noqa: PLR0913, PLR0917  (two versions, and how to compile them)
    nvcc: Nvcc, source: Path, versions: tuple[bytes, bytes], flags: Sequence[str], cwd: Path, out: Path
) -> list[str]:
    """The differing parts. Both versions are compiled under the same path, because names depend on it."""
    compiled = []
    for number, text in enumerate((padded_to(*versions), versions[1])):
        (cwd / source).write_bytes(text)
        ended = nvcc.compile_object(source, out / f"{number}.o", flags, cwd)
        if ended.output is None:
            return [f"{source} does not compile: {ended.messages.strip()[-200:]}"]
        compiled.append((_normalized_ptx(nvcc.read_ptx(ended.output)), _host_sections(ended.output)))
    (ptx, host), (other_ptx, other_host) = compiled
    differing = [] if ptx == other_ptx else ["PTX"]
    if not ptx.strip() or ".entry" not in ptx:
        differing.append("no kernel to compare")
    names = {name for name in {*host, *other_host} if host.get(name) != other_host.get(name)}
    return [*differing, *(f"section {name} of the host object" for name in sorted(names))]


def _normalized_ptx(text: str) -> str:
    return _UNIT_HASH.sub("#", _COMMENT.sub("", text))


def _host_sections(file: Path) -> dict[str, object]:
    """Code and relocations by section; the embedded device code is compared as PTX."""
    sections: dict[str, object] = {}
    with file.open("rb") as stream:
        elf = ELFFile(stream)
        symbols = elf.get_section_by_name(".symtab")
        for section in elf.iter_sections():
            if section.name.startswith(".text"):
                sections[_UNIT_HASH.sub("#", section.name)] = section.data()
            elif isinstance(section, RelocationSection) and section.name.startswith(".rela.text"):
                sections[_UNIT_HASH.sub("#", section.name)] = [
                    (
                        entry["r_offset"],
                        entry["r_info_type"],
                        entry["r_addend"],
                        _UNIT_HASH.sub("#", symbols.get_symbol(entry["r_info_sym"]).name),
                    )
                    for entry in section.iter_relocations()
                ]
    return sections
