"""A fast-math flag that both backends use: clang then assumes that NaN never occurs, and gradients became NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.build_script import compiler_flags
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches flags for device code, except host-only flags and flags inside a backend guard."""
    for flag in compiler_flags(unit):
        if flag.text in context.code.terms and not flag.is_guarded and not flag.is_host_only:
            yield flag.match(flag=flag.text, why=context.code.terms[flag.text])


detector = Detector(__name__, code="BLD104", unit_types=PythonUnit, find=find)
