"""A hard-coded ABI of the C++ standard library: it must equal the one that torch was built with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.build_script import BUILD_SCRIPT_UNITS, compiler_flags
from rocm3d.scan.detector import Detector, Match, DetectorContext
from rocm3d.syntax.python import PythonUnit, string_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.manifest.manifest import ParsedManifest

_MACRO = "_GLIBCXX_USE_CXX11_ABI"
_ASKS_TORCH = (b"compiled_with_cxx11_abi", b"_C._GLIBCXX_USE_CXX11_ABI", b"TORCH_CXX_FLAGS")


def find(unit: PythonUnit | ParsedManifest, look: DetectorContext) -> Iterator[Match]:
    """Matches the flag or macro with a literal value, in files that do not query torch for it."""
    if any(word in unit.data for word in _ASKS_TORCH):
        return
    if isinstance(unit, PythonUnit):
        found = [(flag.text, flag.line, flag.column) for flag in compiler_flags(unit)] + _macros(unit)
    elif unit.kind == "cmake":
        found = [
            (word, c.line, c.column) for c in unit.commands for argument in c.arguments for word in argument.split()
        ]
    else:
        found = []
    for text, line, column in found:
        if text in look.code.terms:
            old = text.endswith("0")
            yield Match(line, column, {"flag": text}, severity=None if old else "note")


def _macros(unit: PythonUnit) -> list[tuple[str, int, int]]:
    """`define_macros=[("NAME", "0")]` as the resulting -D flag, with line and column."""
    found = []
    for pair in unit.nodes("tuple") if unit.builds_extensions else ():
        if len(pair.named_children) == 2 and string_value(unit, pair.named_children[0]) == _MACRO:
            value = unit.slice(pair.named_children[1]).strip("\"'")
            found.append((f"-D{_MACRO}={value}", *unit.text.position(pair.start_byte)))
    return found


detector = Detector(__name__, code="BLD105", unit_types=BUILD_SCRIPT_UNITS, find=find)
