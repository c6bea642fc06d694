"""CUDA device functions that HIP lacks: rounding modes, packed integers, cache hints. The code's terms list them.

Terms may contain wildcards, because whole families are missing. A ROCm definition in any header of the repository fixes
the calls of all files.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Clue, Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import rocm_shim_names
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator

# A call, in code or in a macro body, but not a method or a function of another namespace.
_CALL = re.compile(rb"(?<![\w.>:])(?:::\s*)?((?:__[a-z]|atomic[A-Z])\w*)\s*\(")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match | Clue]:
    """Matches calls among the code's terms, unless the file itself defines or declares the name."""
    yield from (Clue(_clue_name(name.split("(")[0])) for name in rocm_shim_names(unit))
    called = {match.group(1).decode() for match in _CALL.finditer(unit.data)}
    missing = {name: why for name in called for term, why in context.code.terms.items() if fnmatchcase(name, term)}
    if not missing:
        return
    own = set(_defined_names(unit))
    for match in _CALL.finditer(blanked(unit.data)):
        name = match.group(1).decode()
        if name in missing and name not in own and unit.is_shared(match.start(1)):
            line, column = unit.text.position(match.start(1))
            yield Match(line, column, {"name": name, "why": missing[name]}, unless=_clue_name(name))


def _clue_name(name: str) -> str:
    return f"{detector.code} {name}"


def _defined_names(unit: CudaUnit) -> Iterator[str]:
    for node in unit.nodes("function_declarator", "preproc_def", "preproc_function_def"):
        name = node.child_by_field_name("declarator" if node.type == "function_declarator" else "name")
        if name is not None:
            yield unit.slice(name)


detector = Detector(__name__, code="CU312", unit_types=CudaUnit, find=find, prefilter=(b"__", b"_block"))
