"""Targets that a CMake file builds from device sources, read from its text. Nothing is run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.model.inventory import Extension
from rocm3d.model.location import Location

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.manifest.manifest import ScriptCommand, ParsedManifest

_BUILDS = frozenset(
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
_HERE = re.compile(r"^\$\{(CMAKE_CURRENT_(SOURCE|LIST)_DIR|PROJECT_SOURCE_DIR|CMAKE_SOURCE_DIR)\}/?")
_VARIABLE = re.compile(r"^\$\{(\w+)\}$")
_DEVICE = (".cu", ".hip")
_SOURCE = (*_DEVICE, ".cpp", ".cc", ".cxx")
_WORDS = frozenset({"PUBLIC", "PRIVATE", "INTERFACE", "SYSTEM", "BEFORE", "AFTER"})
_DEEP = 4


def cmake_extensions(unit: ParsedManifest) -> Iterator[Extension]:
    """Each target with at least one device source (.cu, .hip)."""
    given = {
        command.arguments[0]: command.arguments[1:]
        for command in unit.commands
        if command.name == "set" and command.arguments
    }
    everywhere = [
        word for command in unit.commands if command.name == "include_directories" for word in command.arguments
    ]
    for command in unit.commands:
        if command.name not in _BUILDS or not command.arguments:
            continue
        name = command.arguments[0]
        sources = [
            word
            for word in _resolved((*command.arguments[1:], *_of(unit, "target_sources", name)), given)
            if word.endswith(_SOURCE)
        ]
        if not any(word.endswith(_DEVICE) for word in sources):
            continue
        folders = _resolved((*_of(unit, "target_include_directories", name), *everywhere), given)
        macros = _resolved(_of(unit, "target_compile_definitions", name), given)
        yield Extension(
            name=name,
            how="cmake",
            sources=tuple(dict.fromkeys(sources)),
            location=Location(path=unit.path, line=command.line, column=command.column),
            include_dirs=tuple(dict.fromkeys(folder or "." for folder in folders)),
            macros=tuple(macro.removeprefix("-D") for macro in macros),
        )


def _of(unit: ParsedManifest, command: str, target: str) -> tuple[str, ...]:
    """The arguments of all calls of a command for a target."""
    found: list[ScriptCommand] = [item for item in unit.commands if item.name == command and item.arguments[:1] == (target,)]
    return tuple(word for item in found for word in item.arguments[1:])


def _resolved(words: tuple[str, ...], given: dict[str, tuple[str, ...]], deep: int = _DEEP) -> list[str]:
    """Arguments with variables of this file expanded. The source folder becomes empty; unknown values are dropped."""
    found: list[str] = []
    for word in words:
        plain = _HERE.sub("", word)
        variable = _VARIABLE.match(plain)
        if variable and deep:
            found += _resolved(given.get(variable.group(1), ()), given, deep - 1)
        elif "$" not in plain and plain not in _WORDS:
            found.append(plain)
    return found
