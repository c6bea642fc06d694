"""Runs AMD's counterpart of a command that only prints GPU status, on ROCm.

Parameters: old, new (command lines, same length). A call whose output the program reads is refused: columns differ.
"""

from __future__ import annotations

import json

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_SHOWS = m.Attribute(value=m.Name("subprocess"), attr=m.Name("run") | m.Name("call") | m.Name("check_call"))
_SHELL = m.Attribute(value=m.Name("os"), attr=m.Name("system"))
_KEEPS = ("stdout", "capture_output")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`subprocess.run(["nvidia-smi"])` becomes `["amd-smi", "static"] if is_rocm else ["nvidia-smi"]`."""
    commands = dict(zip(list_parameter(parameters, "old"), list_parameter(parameters, "new"), strict=True))
    if not any(command.split()[0].encode() in data for command in commands):
        return data
    choose = _Choose(commands)
    after = run_guarded_edit(data, choose)
    if after == data and choose.left:
        raise RewriteRefusedError("the program reads the command's output or selects columns, and AMD's output differs")
    return after


class _Choose(GuardedEdit):
    def __init__(self, commands: dict[str, str]) -> None:
        super().__init__()
        self.commands, self.left = commands, 0
        self.programs = {command.split()[0] for command in commands}

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802
        line = _command(original_node)
        if not line or line.split()[0] not in self.programs or self.is_guarded(original_node):
            return updated_node
        if line not in self.commands or not self._is_shown(original_node):
            self.left += 1
            return updated_node
        given = original_node.args[0].value
        text = self.commands[line]
        rocm = json.dumps(text.split() if isinstance(given, cst.List) else text)
        value = backend_expression(cst.parse_expression(rocm), given, self, given)
        return updated_node.with_changes(args=[updated_node.args[0].with_changes(value=value), *updated_node.args[1:]])

    def _is_shown(self, call: cst.Call) -> bool:
        keywords = [argument.keyword.value for argument in call.args if argument.keyword]
        starts = m.matches(call.func, _SHOWS | _SHELL)
        return starts and isinstance(self.parent_of(call), cst.Expr) and not any(name in _KEEPS for name in keywords)


def _command(call: cst.Call) -> str:
    """The command line that a call starts; `?` for each list element that is not a literal."""
    starts = m.Attribute(value=m.Name("subprocess") | m.Name("os"))
    if not call.args or not m.matches(call.func, starts):
        return ""
    given = call.args[0].value
    if isinstance(given, cst.List):
        return " ".join(string_value(item.value) or "?" for item in given.elements)
    return " ".join((string_value(given) or "").split())


rewrite = Rewrite(__name__, edit)
