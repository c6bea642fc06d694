"""Compiler flags in build scripts that equal one of the rule's terms, outside of backend guards.

Parameter `device_only`: true leaves out flags that only the host compiler gets.
Facts: flag, why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.build_script import compiler_flags
from rocm3d.scan.detector import DetectorContext, Match, Matcher
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    for flag in compiler_flags(unit):
        excluded = flag.is_guarded or (flag.is_host_only and context.parameters.get("device_only"))
        if flag.text in context.code.terms and not excluded:
            yield flag.match(flag=flag.text, why=context.code.terms[flag.text])


matcher = Matcher(unit_types=PythonUnit, find=find, parameters={"device_only": (True, False)})
