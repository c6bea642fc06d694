"""A program that runs a command of NVIDIA's toolkit or driver. The code's terms list the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import ImportedNames, PythonUnit, ancestors, keyword_argument, positional_arguments
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches subprocess and os calls that start such a command. Inside a try it is a note: the failure is handled."""
    if not any(term.encode() in unit.data for term in context.code.terms):
        return
    for name, call in ImportedNames(unit).calls():
        if not name.startswith("subprocess.") and name not in ("os.system", "os.popen"):
            continue
        command = next(
            (node for node in (*positional_arguments(call), keyword_argument(unit, call, "args")) if node), None
        )
        program = "" if command is None else _program(unit, command)
        if program not in context.code.terms or unit.is_guarded(call):
            continue
        match = match_at(unit, call, command=program)
        is_in_try = any(above.type == "try_statement" for above in ancestors(call))
        yield Match(match.line, match.column, match.facts, severity="note" if is_in_try else None)


def _program(unit: PythonUnit, command: Node) -> str:
    """The file name of the program: the first word of a string, or the last string in the first element of a list."""
    if command.type == "list":
        items = [child for child in command.named_children if child.type != "comment"]
        texts = [unit.slice(n) for child in items[:1] for n in walk(child) if n.type == "string_content"]
        words = texts[-1:]
    else:
        text = next((unit.slice(n) for n in walk(command) if n.type == "string_content"), "")
        words = text.split()[:1]
    return words[0].strip().rsplit("/", 1)[-1] if words else ""


detector = Detector(__name__, code="PY402", unit_types=PythonUnit, find=find)
