"""Targets that a CMake file builds from device sources, read from its text. Nothing is run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.model.finding import Location
from rocm3d.model.inventory import Extension

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.manifest.manifest import ParsedManifest, ScriptCommand

_TARGET_COMMANDS = frozenset(
    {
        "add_library",
        "add_executable",
        "cuda_add_library",
        "cuda_add_executable",
        "hip_add_library",
        "pybind11_add_module",
        "python_add_library",
        "torch_library",
    }
)
_SOURCE_FOLDER = re.compile(r"^\$\{(CMAKE_CURRENT_(SOURCE|LIST)_DIR|PROJECT_SOURCE_DIR|CMAKE_SOURCE_DIR)\}/?")
_VARIABLE = re.compile(r"^\$\{(\w+)\}$")
_DEVICE_SUFFIXES = (".cu", ".hip")
_SOURCE_SUFFIXES = (*_DEVICE_SUFFIXES, ".cpp", ".cc", ".cxx")
_SCOPE_KEYWORDS = frozenset({"PUBLIC", "PRIVATE", "INTERFACE", "SYSTEM", "BEFORE", "AFTER"})
_MAX_DEPTH = 4


def cmake_extensions(unit: ParsedManifest) -> Iterator[Extension]:
    """Each target with at least one device source (.cu, .hip)."""
    variables = {
        command.arguments[0]: command.arguments[1:]
        for command in unit.commands
        if command.name == "set" and command.arguments
    }
    global_include_dirs = [
        argument for command in unit.commands if command.name == "include_directories" for argument in command.arguments
    ]
    for command in unit.commands:
        if command.name not in _TARGET_COMMANDS or not command.arguments:
            continue
        name = command.arguments[0]
        sources = [
            argument
            for argument in _expanded(
                (*command.arguments[1:], *_arguments_for_target(unit, "target_sources", name)), variables
            )
            if argument.endswith(_SOURCE_SUFFIXES)
        ]
        if not any(argument.endswith(_DEVICE_SUFFIXES) for argument in sources):
            continue
        folders = _expanded(
            (*_arguments_for_target(unit, "target_include_directories", name), *global_include_dirs), variables
        )
        macros = _expanded(_arguments_for_target(unit, "target_compile_definitions", name), variables)
        yield Extension(
            name=name,
            how="cmake",
            sources=tuple(dict.fromkeys(sources)),
            location=Location(path=unit.path, line=command.line, column=command.column),
            include_dirs=tuple(dict.fromkeys(folder or "." for folder in folders)),
            macros=tuple(macro.removeprefix("-D") for macro in macros),
        )


def _arguments_for_target(unit: ParsedManifest, command: str, target: str) -> tuple[str, ...]:
    """The arguments of all calls of a command for a target."""
    calls: list[ScriptCommand] = [
        call for call in unit.commands if call.name == command and call.arguments[:1] == (target,)
    ]
    return tuple(argument for call in calls for argument in call.arguments[1:])


def _expanded(arguments: tuple[str, ...], variables: dict[str, tuple[str, ...]], depth: int = _MAX_DEPTH) -> list[str]:
    """Arguments with variables of this file expanded. The source folder becomes empty; unknown values are dropped."""
    expanded: list[str] = []
    for argument in arguments:
        plain = _SOURCE_FOLDER.sub("", argument)
        variable = _VARIABLE.match(plain)
        if variable and depth:
            expanded += _expanded(variables.get(variable.group(1), ()), variables, depth - 1)
        elif "$" not in plain and plain not in _SCOPE_KEYWORDS:
            expanded.append(plain)
    return expanded
