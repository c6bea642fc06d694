"""Turns an option of torch's allocator off on ROCm. Parameters: variables, option."""

from __future__ import annotations

import re

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, dotted_name, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_ENVIRON = ("os.environ", "environ")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`expandable_segments:True` in such a variable becomes False on ROCm; the other options stay."""
    return run_guarded_edit(data, _AllocConfEdit(parameters)) if str(parameters["option"]).encode() in data else data


class _AllocConfEdit(GuardedEdit):
    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:  # noqa: N802
        match original_node.targets:
            case [cst.AssignTarget(target=cst.Subscript(value=mapping, slice=[cst.SubscriptElement(slice=index), *_]))]:
                if dotted_name(mapping) in _ENVIRON and isinstance(index, cst.Index):
                    value = self._value_by_backend(index.value, original_node.value)
                    return updated_node if value is None else updated_node.with_changes(value=value)
        return updated_node

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802
        owner, _, method = dotted_name(original_node.func).rpartition(".")
        if owner not in _ENVIRON or method != "setdefault" or len(original_node.args) != 2:
            return updated_node
        value = self._value_by_backend(original_node.args[0].value, original_node.args[1].value)
        if value is None:
            return updated_node
        return updated_node.with_changes(args=[updated_node.args[0], updated_node.args[1].with_changes(value=value)])

    def _value_by_backend(self, name: cst.BaseExpression, value: cst.BaseExpression) -> cst.BaseExpression | None:
        text, option = string_value(value) or "", str(self.parameters["option"])
        option_on = re.compile(rf"\b{re.escape(option)}(\s*:\s*)True\b", re.IGNORECASE)
        if string_value(name) not in self.values("variables") or not option_on.search(text) or self.is_guarded(value):
            return None
        option_off = option_on.sub(rf"{option}\1False", text)
        return self.choose(cst.SimpleString(f'"{option_off}"'), value, value)
