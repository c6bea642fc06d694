"""Renames a device hip or rocm to cuda, which is its name in torch on ROCm too. Parameters: strings."""

from __future__ import annotations

import re

import libcst as cst

from rocm3d.apply.guarded_import import parse_or_refuse
from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG, ROCM_GUARD

_TAKES_DEVICE = ("device", "to", "set_default_device", "autocast")
_DEVICE_NAME = re.compile(r"(^|_)device(_type)?$")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Replaces a string that only ROCm reads; any other becomes a choice by backend."""
    names = list_parameter(parameters, "strings")
    if not any(f"{quote}{name}{quote}".encode() in data for name in names for quote in "\"'"):
        return data
    return run_guarded_edit(
        cst.MetadataWrapper(parse_or_refuse(data)).visit(_RocmDeviceEdit(names)).bytes, _SharedDeviceEdit(names)
    )


class _DeviceNameEdit(GuardedEdit):
    """Common part of both edits: which strings are devices, and on which side of a choice they are."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self.names = names

    def side(self, node: cst.SimpleString) -> str | None:
        """For a device of such a name: `rocm`, `other`, or empty outside any choice. None for other strings."""
        return self._branch(node) if string_value(node) in self.names and self._is_device(node) else None

    def _branch(self, node: cst.CSTNode) -> str:
        """The side of an enclosing choice by exactly our guard; empty without such a choice."""
        inner, ancestor = node, self.parent_of(node)
        while ancestor is not None:
            if (
                isinstance(ancestor, (cst.If, cst.IfExp))
                and inner is not ancestor.test
                and _is_our_guard(ancestor.test)
            ):
                return "rocm" if inner is ancestor.body else "other"
            inner, ancestor = ancestor, self.parent_of(ancestor)
        return ""

    def _is_device(self, node: cst.CSTNode) -> bool:
        """Whether the value becomes a device: a first argument, a keyword, a variable or a default."""
        inner, ancestor = node, self.parent_of(node)
        while isinstance(ancestor, cst.IfExp) and inner is not ancestor.test:
            inner, ancestor = ancestor, self.parent_of(ancestor)
        if isinstance(ancestor, cst.Arg) and ancestor.keyword is not None:
            return bool(_DEVICE_NAME.search(ancestor.keyword.value))
        if isinstance(ancestor, cst.Arg):
            call = self.parent_of(ancestor)
            return isinstance(call, cst.Call) and call.args[0] is ancestor and _last_name(call.func) in _TAKES_DEVICE
        if isinstance(ancestor, cst.Assign):
            return bool(_DEVICE_NAME.search(_last_name(ancestor.targets[0].target)))
        return isinstance(ancestor, cst.Param) and bool(_DEVICE_NAME.search(ancestor.name.value))


class _RocmDeviceEdit(_DeviceNameEdit):
    def leave_SimpleString(  # noqa: N802
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.BaseExpression:
        return _cuda(updated_node) if self.side(original_node) == "rocm" else updated_node


class _SharedDeviceEdit(_DeviceNameEdit):
    def leave_SimpleString(  # noqa: N802
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.BaseExpression:
        if self.side(original_node) != "":
            return updated_node
        return backend_expression(_cuda(updated_node), updated_node, self, original_node)


def _cuda(node: cst.SimpleString) -> cst.SimpleString:
    return node.with_changes(value=f"{node.quote}cuda{node.quote}")


def _is_our_guard(test: cst.BaseExpression) -> bool:
    return cst.Module([]).code_for_node(test) in (ROCM_GUARD, ROCM_FLAG)


def _last_name(node: cst.CSTNode | None) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""
