"""Hard-coded GPU architectures: an NVIDIA list in the environment or in CMake, or one AMD target.

A literal --offload-arch is reported even in ROCm-only code, because it disables torch's own choice of targets.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.build_script import BUILD_SCRIPT_UNITS, PLACEHOLDER, compiler_flags
from rocm3d.scan.detector import Detector, Match, DetectorContext, match_at
from rocm3d.scan.needs import contains_term
from rocm3d.syntax.python import PythonUnit, string_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from rocm3d.manifest.manifest import ScriptCommand, ParsedManifest

_SETTER = re.compile(r"(setdefault|putenv)$")
_SETS = frozenset({"set", "set_target_properties", "set_property", "ENV", "ARG", "export", "env"})


def find(unit: PythonUnit | ParsedManifest, look: DetectorContext) -> Iterator[Match]:
    """Matches variables among the code's terms that are set or required, and literal targets."""
    terms = look.code.terms
    if isinstance(unit, PythonUnit):
        for flag in compiler_flags(unit):
            name, is_given, value = flag.text.partition("=")
            if name in terms and is_given and value and PLACEHOLDER not in value and "%" not in value:
                yield flag.match(name=flag.text, why=terms[name])
        yield from _variables(unit, terms)
    elif not _knows_rocm(unit):
        for command in unit.commands:
            for name in _names(command):
                if name in terms:
                    yield Match(command.line, command.column, {"name": name, "why": terms[name]}, severity="note")


def _variables(unit: PythonUnit, terms: dict[str, str]) -> Iterator[Match]:
    """Matches `os.environ[NAME]`, set or required, and setter calls. An empty value counts as unset."""
    given = {left.start_byte: unit.slice(right) for left, right in _assignments(unit)}
    asks_first = re.search(rb"(in|not in) os\.environ|environ\.get|getenv", unit.data) is not None
    for node in unit.nodes("subscript", "call"):
        if node.type == "subscript":
            value, key = node.child_by_field_name("value"), node.child_by_field_name("subscript")
            is_set = value is not None and unit.slice(value).endswith("environ")
            text = given.get(node.start_byte, "" if asks_first else "required")
            is_set = is_set and text.strip("\"'") != ""
        else:
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            key = arguments.named_children[0] if arguments is not None and arguments.named_children else None
            is_set = function is not None and bool(_SETTER.search(unit.slice(function)))
        name = string_value(unit, key) if is_set and key is not None else None
        if name in terms and not unit.is_guarded(node):
            yield match_at(unit, node, name=name or "", why=terms[name or ""])


def _assignments(unit: PythonUnit) -> Iterator[tuple[Node, Node]]:
    for node in unit.nodes("assignment", "augmented_assignment"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None:
            yield left, right


def _knows_rocm(unit: ParsedManifest) -> bool:
    return bool(re.search(rb"HIP_ARCHITECTURES|PYTORCH_ROCM_ARCH|(?i:rocm|enable_language\(\s*HIP)", unit.data))


def _names(command: ScriptCommand) -> list[str]:
    """The variables that a command sets: CMake arguments, or NAME=VALUE before or after the command name."""
    words = [command.name, *command.arguments]
    given = [word.partition("=")[0] for word in words if "=" in word]
    if command.name not in _SETS:
        return given if "=" in command.name else []
    if command.name == "set" and command.arguments[1:2] in ((), ("",)):
        return []
    return [*given, *command.arguments] if command.name.startswith("set") else [*given, *command.arguments[:1]]


def _mentioned(unit: PythonUnit | ParsedManifest, look: DetectorContext) -> bool:
    """Python files need a term. Manifests are parsed already, so they are always searched."""
    return not isinstance(unit, PythonUnit) or contains_term(unit, look)


detector = Detector(__name__, code="BLD102", unit_types=BUILD_SCRIPT_UNITS, find=find, prefilter=_mentioned)
