"""A compiler flag that only nvcc accepts, in a script that builds torch extensions. The code's terms list them.

hipcc is clang and fails at the first such flag. Undefining a macro of the CUDA headers (-U) compiles but has no effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.build_script import compiler_flags
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNDEFINE = "-U"
_GROUP_LINES = 3  # lines; -U flags closer than this have one fix, so they are one finding


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches flags that start with one of the code's terms and are not inside a backend guard."""
    last_line = -_GROUP_LINES
    for flag in compiler_flags(unit):
        term = None if flag.is_guarded else flag.matching_prefix(context.code.terms)
        if term is None or "=/" in flag.text:  # a flag for Microsoft's compiler
            continue
        if not term.startswith(_UNDEFINE):
            yield flag.match(flag=flag.text, why=context.code.terms[term])
        elif b"-U__HIP_NO_" not in unit.data:
            if flag.line - last_line >= _GROUP_LINES:
                facts = {"flag": flag.text, "why": context.code.terms[term]}
                yield Match(flag.line, flag.column, facts, severity="warning")
            last_line = flag.line


detector = Detector(__name__, code="BLD101", unit_types=PythonUnit, find=find)
