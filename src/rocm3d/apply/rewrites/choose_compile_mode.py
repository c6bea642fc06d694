"""Runs torch.compile in its default mode on ROCm.

Parameters: modes (the ones to replace), configured (functions whose mode is replaced if a configuration has it).
"""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, dotted_name, keyword_name, last_name, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_OF_CONFIGURATION = (cst.Attribute, cst.Subscript)


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`torch.compile(model, mode="max-autotune")` becomes `mode="default" if is_rocm else "max-autotune"`."""
    functions = list_parameter(parameters, "configured")
    words = [*(name.rpartition(".")[2] for name in functions), *list_parameter(parameters, "modes")]
    return (
        run_guarded_edit(data, _CompileModeEdit(parameters)) if any(word.encode() in data for word in words) else data
    )


class _CompileModeEdit(GuardedEdit):
    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802
        value, call = original_node.value, self.parent_of(original_node)
        if keyword_name(original_node) != "mode" or not isinstance(call, cst.Call):
            return updated_node
        if not self._is_replaced(call, value) or self.is_guarded(original_node):
            return updated_node
        return updated_node.with_changes(value=self.choose(cst.SimpleString('"default"'), value, value))

    def _is_replaced(self, call: cst.Call, value: cst.BaseExpression) -> bool:
        if isinstance(value, _OF_CONFIGURATION):
            return dotted_name(call.func) in self.values("configured")
        return string_value(value) in self.values("modes") and _compiles(call)


def _compiles(call: cst.Call) -> bool:
    return last_name(call.func) == "compile" or dotted_name(call.func) == "partial"
