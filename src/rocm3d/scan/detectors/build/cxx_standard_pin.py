"""A C++ standard that is too old for the headers of torch and rocPRIM. The code's terms list the flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.build_script import BUILD_SCRIPT_UNITS, compiler_flags
from rocm3d.scan.cmake_script import requires_cuda
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.manifest.manifest import ParsedManifest
    from rocm3d.model.finding import Severity


def find(unit: PythonUnit | ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches flags of an extension build, and standards set in a CMake file that compiles device code."""
    if isinstance(unit, PythonUnit):
        for flag in compiler_flags(unit):
            if not flag.is_guarded and flag.text in context.code.terms:
                yield flag.match(flag=flag.text, why=context.code.terms[flag.text])
    elif unit.kind == "cmake" and any(marker in unit.data for marker in (b"CUDA", b"Torch", b"HIP")):
        severity: Severity | None = None if requires_cuda(unit) else "note"
        for command in unit.commands:
            candidates = [" ".join(command.arguments[:2])] if command.name == "set" else _words(command.arguments)
            for text in candidates:
                if text in context.code.terms:
                    facts = {"flag": text, "why": context.code.terms[text]}
                    yield Match(command.line, command.column, facts, severity=severity)


def _words(arguments: tuple[str, ...]) -> list[str]:
    return [token for argument in arguments for token in argument.split()]


detector = Detector(__name__, code="BLD103", unit_types=BUILD_SCRIPT_UNITS, find=find)
