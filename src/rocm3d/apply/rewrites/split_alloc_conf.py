"""Turns an option of torch's allocator off on ROCm. Parameters: variables, option."""

from __future__ import annotations

import re

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_ENVIRON = m.Attribute(value=m.Name("os"), attr=m.Name("environ")) | m.Name("environ")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`expandable_segments:True` in such a variable becomes False on ROCm; the other options stay."""
    (option,) = list_parameter(parameters, "option")
    return (
        run_guarded_edit(data, _AllocConfEdit(list_parameter(parameters, "variables"), option))
        if option.encode() in data
        else data
    )


class _AllocConfEdit(GuardedEdit):
    def __init__(self, variables: tuple[str, ...], option: str) -> None:
        super().__init__()
        self.variables = variables
        self.option_on = re.compile(rf"\b{re.escape(option)}(\s*:\s*)True\b", re.IGNORECASE)
        self.option_off = rf"{option}\1False"

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:  # noqa: N802
        target = original_node.targets[0].target
        if len(original_node.targets) != 1 or not isinstance(target, cst.Subscript):
            return updated_node
        index = target.slice[0].slice
        if not m.matches(target.value, _ENVIRON) or not isinstance(index, cst.Index):
            return updated_node
        value = self._value_by_backend(index.value, original_node.value)
        return updated_node if value is None else updated_node.with_changes(value=value)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802
        if not m.matches(original_node, m.Call(func=m.Attribute(value=_ENVIRON, attr=m.Name("setdefault")))):
            return updated_node
        if len(original_node.args) != 2:
            return updated_node
        value = self._value_by_backend(original_node.args[0].value, original_node.args[1].value)
        if value is None:
            return updated_node
        return updated_node.with_changes(args=[updated_node.args[0], updated_node.args[1].with_changes(value=value)])

    def _value_by_backend(self, name: cst.BaseExpression, value: cst.BaseExpression) -> cst.BaseExpression | None:
        text = string_value(value) or ""
        if string_value(name) not in self.variables or not self.option_on.search(text) or self.is_guarded(value):
            return None
        return backend_expression(
            cst.SimpleString(f'"{self.option_on.sub(self.option_off, text)}"'), value, self, value
        )
