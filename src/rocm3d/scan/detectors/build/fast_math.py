"""A fast-math flag that both backends use: clang then assumes that NaN never occurs, and gradients became NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.build_script import flags
from rocm3d.scan.detector import Detector, Hit, Look
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, look: Look) -> Iterator[Hit]:
    """Matches flags for device code, except host-only flags and flags inside a backend guard."""
    for flag in flags(unit):
        if flag.text in look.code.terms and not flag.guarded and not flag.host:
            yield flag.hit(flag=flag.text, why=look.code.terms[flag.text])


detector = Detector(__name__, code="BLD104", reads=PythonUnit, find=find)
