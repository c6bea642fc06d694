"""Renames a device hip or rocm to cuda, which is its name in torch on ROCm too. Parameters: strings."""

from __future__ import annotations

import re

import libcst as cst

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, keyword_name, last_name, parse_or_refuse, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_TAKES_DEVICE = ("device", "to", "set_default_device", "autocast")
_DEVICE_NAME = re.compile(r"(^|_)device(_type)?$")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Replaces a string that only ROCm reads; any other becomes a choice by backend."""
    names = list_parameter(parameters, "strings")
    if not any(f"{quote}{name}{quote}".encode() in data for name in names for quote in "\"'"):
        return data
    return run_guarded_edit(parse_or_refuse(data, _RocmDeviceEdit(parameters)).bytes, _SharedDeviceEdit(parameters))


class _DeviceNameEdit(GuardedEdit):
    """Common part of both edits: which strings are devices."""

    def is_device_on(self, side: str, node: cst.SimpleString) -> bool:
        """Whether the string is a device of such a name, on this side of a choice by backend."""
        return string_value(node) in self.values("strings") and self._is_device(node) and self.side(node) == side

    def _is_device(self, node: cst.CSTNode) -> bool:
        """Whether the value becomes a device: a first argument, a keyword, a variable or a default."""
        user = next(
            ancestor
            for ancestor, child in self.ancestors(node)
            if not isinstance(ancestor, cst.IfExp) or child is ancestor.test
        )
        if isinstance(user, cst.Arg) and user.keyword is None:
            call = self.parent_of(user)
            return isinstance(call, cst.Call) and call.args[0] is user and last_name(call.func) in _TAKES_DEVICE
        if isinstance(user, cst.Arg):
            return bool(_DEVICE_NAME.search(keyword_name(user)))
        if isinstance(user, cst.Assign):
            return bool(_DEVICE_NAME.search(last_name(user.targets[0].target)))
        return isinstance(user, cst.Param) and bool(_DEVICE_NAME.search(user.name.value))


class _RocmDeviceEdit(_DeviceNameEdit):
    def leave_SimpleString(  # noqa: N802
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.BaseExpression:
        return _cuda(updated_node) if self.is_device_on("rocm", original_node) else updated_node


class _SharedDeviceEdit(_DeviceNameEdit):
    def leave_SimpleString(  # noqa: N802
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.BaseExpression:
        if not self.is_device_on("", original_node):
            return updated_node
        return self.choose(_cuda(updated_node), updated_node, original_node)


def _cuda(node: cst.SimpleString) -> cst.SimpleString:
    return node.with_changes(value=f"{node.quote}cuda{node.quote}")
