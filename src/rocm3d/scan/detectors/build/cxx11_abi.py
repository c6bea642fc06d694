"""A hard-coded ABI of the C++ standard library: it must equal the one that torch was built with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.build_script import BUILD_SCRIPT_UNITS, compiler_flags
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.python import PythonUnit, string_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.manifest.manifest import ParsedManifest

_MACRO = "_GLIBCXX_USE_CXX11_ABI"
_TORCH_ABI_QUERIES = (b"compiled_with_cxx11_abi", b"_C._GLIBCXX_USE_CXX11_ABI", b"TORCH_CXX_FLAGS")


def find(unit: PythonUnit | ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches the flag or macro with a literal value, in files that do not query torch for it."""
    if any(query in unit.data for query in _TORCH_ABI_QUERIES):
        return
    if isinstance(unit, PythonUnit):
        candidates = [(flag.text, flag.line, flag.column) for flag in compiler_flags(unit)] + _define_macros(unit)
    elif unit.kind == "cmake":
        candidates = [
            (query, c.line, c.column) for c in unit.commands for argument in c.arguments for query in argument.split()
        ]
    else:
        candidates = []
    for text, line, column in candidates:
        if text in context.code.terms:
            is_old_abi = text.endswith("0")
            yield Match(line, column, {"flag": text}, severity=None if is_old_abi else "note")


def _define_macros(unit: PythonUnit) -> list[tuple[str, int, int]]:
    """`define_macros=[("NAME", "0")]` as the resulting -D flag, with line and column."""
    macros = []
    for pair in unit.nodes("tuple") if unit.builds_extensions else ():
        if len(pair.named_children) == 2 and string_value(unit, pair.named_children[0]) == _MACRO:
            value = unit.slice(pair.named_children[1]).strip("\"'")
            macros.append((f"-D{_MACRO}={value}", *unit.text.position(pair.start_byte)))
    return macros


detector = Detector(__name__, code="BLD105", unit_types=BUILD_SCRIPT_UNITS, find=find)
