"""CMake that enables CUDA without HIP support: configuration fails without a CUDA toolkit.

Inside a condition on CUDA it is a note, because the project also builds without CUDA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.cmake_script import commands_with_cuda_optional, mentions_rocm
from rocm3d.scan.detector import Detector, DetectorContext, Match

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.manifest.manifest import ScriptCommand


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches commands among the code's terms: a command, a command with its first argument, or a variable."""
    if unit.kind != "cmake" or mentions_rocm(unit):
        return
    for command, optional in commands_with_cuda_optional(unit):
        term = _matching_term(command, context.code.terms)
        if term is not None:
            facts = {"command": _shortened(command), "why": context.code.terms[term]}
            is_note = optional or command.name in ("set", "list", "set_target_properties", "set_property")
            yield Match(command.line, command.column, facts, severity="note" if is_note else None)


def _matching_term(command: ScriptCommand, terms: dict[str, str]) -> str | None:
    first = command.arguments[0] if command.arguments else ""
    if command.name == "project":
        languages = command.arguments[1:]
        return "LANGUAGES CUDA" if "CUDA" in languages and "LANGUAGES CUDA" in terms else None
    candidates = [f"{command.name}({first}", command.name]
    if command.name in ("set", "list", "set_target_properties", "set_property"):
        candidates += command.arguments
    return next((term for term in candidates if term in terms), None)


def _shortened(command: ScriptCommand) -> str:
    words = " ".join(command.arguments[:4])
    return f"{command.name}({words}{' ...' if len(command.arguments) > 4 else ''})"


detector = Detector(__name__, code="BLD203", unit_types=ParsedManifest, find=find)
