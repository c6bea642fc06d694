"""Runs AMD's counterpart of a command that only prints GPU status, on ROCm.

Parameters: old, new (command lines, same length). A call whose output the program reads is refused: columns differ.
"""

from __future__ import annotations

import json
import re

import libcst as cst

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, dotted_name, keyword_name, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_PROCESS_CALL = re.compile(r"(subprocess|os)\.\w+")
_RUN_CALLS = ("subprocess.run", "subprocess.call", "subprocess.check_call", "os.system")
_CAPTURES_OUTPUT = ("stdout", "capture_output")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`subprocess.run(["nvidia-smi"])` becomes `["amd-smi", "static"] if is_rocm else ["nvidia-smi"]`."""
    commands = dict(zip(list_parameter(parameters, "old"), list_parameter(parameters, "new"), strict=True))
    has_program = any(command.split()[0].encode() in data for command in commands)
    return run_guarded_edit(data, _SmiCommandEdit(commands)) if has_program else data


class _SmiCommandEdit(GuardedEdit):
    def __init__(self, commands: dict[str, str]) -> None:
        super().__init__()
        self.commands = commands
        self.programs = {command.split()[0] for command in commands}

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802
        command_line = _command_line(original_node)
        if not command_line or command_line.split()[0] not in self.programs or self.is_guarded(original_node):
            return updated_node
        if command_line not in self.commands or not self._is_output_only_printed(original_node):
            self.refusal = "the program reads the command's output or selects columns, and AMD's output differs"
            return updated_node
        command_node = original_node.args[0].value
        rocm_line = self.commands[command_line]
        rocm = json.dumps(rocm_line.split() if isinstance(command_node, cst.List) else rocm_line)
        value = self.choose(cst.parse_expression(rocm), command_node, command_node)
        return updated_node.with_changes(args=[updated_node.args[0].with_changes(value=value), *updated_node.args[1:]])

    def _is_output_only_printed(self, call: cst.Call) -> bool:
        return (
            dotted_name(call.func) in _RUN_CALLS
            and isinstance(self.parent_of(call), cst.Expr)
            and not any(keyword_name(argument) in _CAPTURES_OUTPUT for argument in call.args)
        )


def _command_line(call: cst.Call) -> str:
    """The command line that a call starts; `?` for each list element that is not a literal."""
    if not call.args or not _PROCESS_CALL.fullmatch(dotted_name(call.func)):
        return ""
    first_argument = call.args[0].value
    if isinstance(first_argument, cst.List):
        return " ".join(string_value(element.value) or "?" for element in first_argument.elements)
    return " ".join((string_value(first_argument) or "").split())
