"""Hard-coded GPU architectures: an NVIDIA list in the environment or in CMake, or one AMD target.

A literal --offload-arch is reported even in ROCm-only code, because it disables torch's own choice of targets.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.build_script import BUILD_SCRIPT_UNITS, PLACEHOLDER, compiler_flags
from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.python import PythonUnit, string_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from rocm3d.manifest.manifest import ParsedManifest, ScriptCommand

_SETTER = re.compile(r"(setdefault|putenv)$")
_SETTING_COMMANDS = frozenset({"set", "set_target_properties", "set_property", "ENV", "ARG", "export", "env"})


def find(unit: PythonUnit | ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches variables among the code's terms that are set or required, and literal targets."""
    terms = context.code.terms
    if isinstance(unit, PythonUnit):
        for flag in compiler_flags(unit):
            name, separator, value = flag.text.partition("=")
            if name in terms and separator and value and PLACEHOLDER not in value and "%" not in value:
                yield flag.match(name=flag.text, why=terms[name])
        yield from _environment_matches(unit, terms)
    elif not _handles_rocm(unit):
        for command in unit.commands:
            for name in _set_names(command):
                if name in terms:
                    yield Match(command.line, command.column, {"name": name, "why": terms[name]}, severity="note")


def _environment_matches(unit: PythonUnit, terms: dict[str, str]) -> Iterator[Match]:
    """Matches `os.environ[NAME]`, set or required, and setter calls. An empty value counts as unset."""
    assigned_texts = {left.start_byte: unit.slice(right) for left, right in _assignments(unit)}
    checks_presence = re.search(rb"(in|not in) os\.environ|environ\.get|getenv", unit.data) is not None
    for node in unit.nodes("subscript", "call"):
        if node.type == "subscript":
            value, key = node.child_by_field_name("value"), node.child_by_field_name("subscript")
            is_set = value is not None and unit.slice(value).endswith("environ")
            text = assigned_texts.get(node.start_byte, "" if checks_presence else "required")
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


def _handles_rocm(unit: ParsedManifest) -> bool:
    return bool(re.search(rb"HIP_ARCHITECTURES|PYTORCH_ROCM_ARCH|(?i:rocm|enable_language\(\s*HIP)", unit.data))


def _set_names(command: ScriptCommand) -> list[str]:
    """The variables that a command sets: CMake arguments, or NAME=VALUE before or after the command name."""
    tokens = [command.name, *command.arguments]
    assigned = [token.partition("=")[0] for token in tokens if "=" in token]
    if command.name not in _SETTING_COMMANDS:
        return assigned if "=" in command.name else []
    if command.name == "set" and command.arguments[1:2] in ((), ("",)):
        return []
    return [*assigned, *command.arguments] if command.name.startswith("set") else [*assigned, *command.arguments[:1]]


def _can_match(unit: PythonUnit | ParsedManifest, context: DetectorContext) -> bool:
    """Python files need a term. Manifests are parsed already, so they are always searched."""
    return not isinstance(unit, PythonUnit) or contains_term(unit, context)


detector = Detector(__name__, code="BLD102", unit_types=BUILD_SCRIPT_UNITS, find=find, prefilter=_can_match)
