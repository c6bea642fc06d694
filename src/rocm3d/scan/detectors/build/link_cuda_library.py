"""A CUDA toolkit library passed to the linker: ROCm has no library of that name. The code's terms list them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.build_script import BUILD_SCRIPT_UNITS, compiler_flags
from rocm3d.scan.cmake_script import mentions_rocm
from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, string_value
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.manifest.manifest import ParsedManifest
    from rocm3d.model.finding import Severity

_TARGET_PREFIX = "CUDA::"


def find(unit: PythonUnit | ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches `-lNAME`, `libraries=["NAME"]` and CMake link commands."""
    terms = context.code.terms
    if isinstance(unit, PythonUnit):
        for flag in compiler_flags(unit):
            name = flag.text.removeprefix("-l")
            if flag.text.startswith("-l") and name in terms and not flag.is_guarded:
                yield flag.match(flag=flag.text, why=terms[name])
        yield from _libraries_argument(unit, terms)
    elif unit.kind == "cmake" and not mentions_rocm(unit):
        # A file without project() is a part of a project and does not show whether the project needs CUDA.
        severity: Severity | None = None if any(command.name == "project" for command in unit.commands) else "note"
        for command in unit.commands:
            if command.name in ("target_link_libraries", "link_libraries"):
                for library in command.arguments[1:] if command.name.startswith("target") else command.arguments:
                    name = library.removeprefix(_TARGET_PREFIX).removeprefix("-l").removesuffix("_static")
                    if name in terms:
                        yield Match(
                            command.line, command.column, {"flag": library, "why": terms[name]}, severity=severity
                        )


def _libraries_argument(unit: PythonUnit, terms: dict[str, str]) -> Iterator[Match]:
    """Matches names in the `libraries` argument of an extension."""
    for argument in unit.nodes("keyword_argument") if unit.builds_extensions else ():
        name, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
        if name is None or value is None or unit.slice(name) != "libraries" or unit.is_guarded(argument):
            continue
        for node in walk(value):
            text = string_value(unit, node)
            if text in terms and not unit.is_guarded(node):
                yield match_at(unit, node, flag=text or "", why=terms[text or ""])


detector = Detector(__name__, code="BLD305", unit_types=BUILD_SCRIPT_UNITS, find=find)
