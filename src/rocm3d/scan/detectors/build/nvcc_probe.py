"""A build that runs nvcc or searches for it: without nvcc it raises, or concludes that there is no GPU."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.build_script import BUILD_SCRIPT_UNITS
from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from rocm3d.manifest.manifest import ParsedManifest

_PROCESS_CALL = re.compile(
    r"(?:^|\.|_)(which|find_executable|join|run|call|check_output|check_call|Popen|popen|system|getoutput)$"
)
_NVCC = re.compile(r"^[\"']?(?:\S*[/\\}])?nvcc(?:\.exe)?(?=[\"'\s]|$)")


def find(unit: PythonUnit | ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches calls with nvcc as an argument, known helper functions that run it, and commands in scripts."""
    if isinstance(unit, PythonUnit):
        if unit.builds_extensions or unit.path.endswith("setup.py"):
            yield from _python_calls(unit, context.code.terms)
        return
    for command in unit.commands if unit.kind in ("docker", "shell") else ():
        if command.name.rsplit("/", 1)[-1] == "nvcc":
            command_text = " ".join((command.name, *command.arguments[:2]))
            yield Match(command.line, command.column, {"call": command_text}, severity="warning")


def _python_calls(unit: PythonUnit, terms: dict[str, str]) -> Iterator[Match]:
    defined = {unit.slice(own) for node in unit.nodes("function_definition") if (own := _field(node, "name"))}
    reported: set[int] = set()
    for call in unit.nodes("call"):
        function, arguments = _field(call, "function"), _field(call, "arguments")
        if function is None or arguments is None or unit.is_guarded(call):
            continue
        name = unit.tail(function)
        is_helper = name in terms and name not in defined
        strings = [node for node in walk(arguments) if node.type == "string"] if _PROCESS_CALL.search(name) else []
        nvcc_strings = {node.id for node in strings if _NVCC.match(_string_text(unit, node))} - reported
        if is_helper or nvcc_strings:
            reported |= nvcc_strings  # os.path.join(...) inside subprocess.run(...) is one finding
            yield match_at(unit, call, call=re.sub(r"\s+", " ", unit.slice(call)))


def _field(node: Node, name: str) -> Node | None:
    return node.child_by_field_name(name)


def _string_text(unit: PythonUnit, node: Node) -> str:
    """The text between the quotes, also of f-strings."""
    return unit.slice(node).lstrip("rRbBuUfF").strip("\"'")


detector = Detector(__name__, code="BLD204", unit_types=BUILD_SCRIPT_UNITS, find=find)
