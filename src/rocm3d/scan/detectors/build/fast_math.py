"""Fast math for clang, not chosen for one backend: it assumes that there is no NaN, and gradients have become one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.build_script import flags
from rocm3d.scan.detector import Detector, Hit, Look
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, look: Look) -> Iterator[Hit]:
    """Flags for device code; what the host compiler gets, and what somebody chose for ROCm, is left alone."""
    for flag in flags(unit):
        if flag.text in look.code.terms and not flag.guarded and not flag.host:
            yield flag.hit(flag=flag.text, why=look.code.terms[flag.text])


detector = Detector(__name__, code="BLD104", reads=PythonUnit, find=find)
