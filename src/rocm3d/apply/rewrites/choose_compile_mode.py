"""Runs torch.compile in its default mode on ROCm. Parameters: modes (the ones to replace)."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_COMPILE = m.Call(func=m.Attribute(attr=m.Name("compile")) | m.Name("compile") | m.Name("partial"))


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`torch.compile(model, mode="max-autotune")` becomes `mode="default" if is_rocm else "max-autotune"`."""
    modes = list_parameter(parameters, "modes")
    return run_guarded_edit(data, _CompileModeEdit(modes)) if any(mode.encode() in data for mode in modes) else data


class _CompileModeEdit(GuardedEdit):
    def __init__(self, modes: tuple[str, ...]) -> None:
        super().__init__()
        self.modes = modes

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802
        value, keyword, call = original_node.value, original_node.keyword, self.parent_of(original_node)
        if keyword is None or keyword.value != "mode" or call is None or not m.matches(call, _COMPILE):
            return updated_node
        if string_value(value) not in self.modes or self.is_guarded(original_node):
            return updated_node
        return updated_node.with_changes(value=backend_expression(cst.SimpleString('"default"'), value, self, value))
