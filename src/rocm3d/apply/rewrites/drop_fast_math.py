"""Removes clang's fast-math flags from device compilation on ROCm. Parameters: flags."""

from __future__ import annotations

import re

import libcst as cst

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, keyword_name, last_name, parse_or_refuse, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_HOST_FLAGS_NAME = re.compile(r"(?i)(.*cxx.*|c_?flags|.*extra_cflags|cpp_?flags)$")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """A list that only ROCm reads loses the flags; any other list of device flags becomes a choice by backend."""
    flags = list_parameter(parameters, "flags")
    if b"cpp_extension" not in data or not any(flag.encode() in data for flag in flags):
        return data
    return run_guarded_edit(parse_or_refuse(data, _RocmFlagsEdit(parameters)).bytes, _DeviceFlagsEdit(parameters))


class _FlagsEdit(GuardedEdit):
    """Common part of both edits: which lists have the flags."""

    def without(self, node: cst.List) -> cst.List | None:
        """The list without the flags; None if it has none of them."""
        remaining = [element for element in node.elements if string_value(element.value) not in self.values("flags")]
        if len(remaining) == len(node.elements):
            return None
        return node.with_changes(
            elements=[flag_element.with_changes(comma=cst.MaybeSentinel.DEFAULT) for flag_element in remaining]
        )


class _RocmFlagsEdit(_FlagsEdit):
    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.List:  # noqa: N802
        if self.side(original_node) != "rocm":
            return updated_node
        return self.without(updated_node) or updated_node


class _DeviceFlagsEdit(_FlagsEdit):
    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.BaseExpression:  # noqa: N802
        remaining = self.without(updated_node)
        if remaining is None or self.is_guarded(original_node) or self._is_for_host(original_node):
            return updated_node
        plain = remaining.with_changes(lbracket=cst.LeftSquareBracket(), rbracket=cst.RightSquareBracket())
        return self.choose(plain, updated_node, original_node)

    def _is_for_host(self, node: cst.CSTNode) -> bool:
        """Whether a key, keyword, variable or plain C++ extension passes the list to the host compiler."""
        for ancestor, _ in self.ancestors(node):
            if isinstance(ancestor, cst.BaseStatement):
                break
            is_host_call = isinstance(ancestor, cst.Call) and last_name(ancestor.func) == "CppExtension"
            if is_host_call or _HOST_FLAGS_NAME.match(_bound_name(ancestor)):
                return True
        return False


def _bound_name(node: cst.CSTNode) -> str:
    """The dictionary key, keyword or variable that a value is bound to."""
    if isinstance(node, cst.DictElement):
        return string_value(node.key) or ""
    if isinstance(node, cst.Arg):
        return keyword_name(node)
    target = node.targets[0].target if isinstance(node, cst.Assign) else None
    return target.value if isinstance(target, cst.Name) else ""
