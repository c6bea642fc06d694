"""A compiler flag that only nvcc takes, in a script that builds torch extensions; which ones is data.

hipcc is clang and stops at the first of them. To undefine a macro of CUDA headers is no error there, but does nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.build_script import flags
from rocm3d.scan.detector import Detector, Hit, Look
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNDEFINE = "-U"
_NEAR = 3  # lines: several macros undefined in a row have one remedy


def find(unit: PythonUnit, look: Look) -> Iterator[Hit]:
    """Flags that start with one of the code's terms and are not already chosen by backend."""
    last = -_NEAR
    for flag in flags(unit):
        term = None if flag.guarded else flag.begins(look.code.terms)
        if term is None or "=/" in flag.text:  # what is handed on to Microsoft's compiler
            continue
        if not term.startswith(_UNDEFINE):
            yield flag.hit(flag=flag.text, why=look.code.terms[term])
        elif b"-U__HIP_NO_" not in unit.data:
            if flag.line - last >= _NEAR:
                facts = {"flag": flag.text, "why": look.code.terms[term]}
                yield Hit(flag.line, flag.column, facts, severity="warning")
            last = flag.line


detector = Detector(__name__, code="BLD101", reads=PythonUnit, find=find)
