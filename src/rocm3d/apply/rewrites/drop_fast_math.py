"""Removes clang's fast-math flags from device compilation on ROCm. Parameters: flags."""

from __future__ import annotations

import re

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.guarded_import import parse_or_refuse
from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG, ROCM_GUARD

_HOST_FLAGS_NAME = re.compile(r"(?i)(.*cxx.*|c_?flags|.*extra_cflags|cpp_?flags)$")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """A list that only ROCm reads loses the flags; any other list of device flags becomes a choice by backend."""
    flags = list_parameter(parameters, "flags")
    if b"cpp_extension" not in data or not any(flag.encode() in data for flag in flags):
        return data
    return run_guarded_edit(
        cst.MetadataWrapper(parse_or_refuse(data)).visit(_RocmFlagsEdit(flags)).bytes, _DeviceFlagsEdit(flags)
    )


class _FlagsEdit(GuardedEdit):
    """Common part of both edits: which lists have the flags, and which compiler gets a list."""

    def __init__(self, flags: tuple[str, ...]) -> None:
        super().__init__()
        self.flags = flags

    def without(self, node: cst.List) -> cst.List | None:
        """The list without the flags; None if it has none of them."""
        remaining = [element for element in node.elements if string_value(element.value) not in self.flags]
        if len(remaining) == len(node.elements):
            return None
        return node.with_changes(
            elements=[flag_element.with_changes(comma=cst.MaybeSentinel.DEFAULT) for flag_element in remaining]
        )

    def is_for_rocm(self, node: cst.CSTNode) -> bool:
        """Whether an enclosing choice by exactly our guard selects the list for ROCm only."""
        inner, ancestor = node, self.parent_of(node)
        while ancestor is not None:
            if isinstance(ancestor, (cst.If, cst.IfExp)) and inner is ancestor.body and _is_our_guard(ancestor.test):
                return True
            inner, ancestor = ancestor, self.parent_of(ancestor)
        return False

    def is_for_host(self, node: cst.CSTNode) -> bool:
        """Whether a key, keyword, variable or plain C++ extension passes the list to the host compiler."""
        ancestor = self.parent_of(node)
        while ancestor is not None and not isinstance(ancestor, cst.BaseStatement):
            if _HOST_FLAGS_NAME.match(_bound_name(ancestor)) or m.matches(ancestor, m.Call(func=_CPP_EXTENSION)):
                return True
            ancestor = self.parent_of(ancestor)
        return False


_CPP_EXTENSION = m.Name("CppExtension") | m.Attribute(attr=m.Name("CppExtension"))


class _RocmFlagsEdit(_FlagsEdit):
    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.List:  # noqa: N802
        if not self.is_for_rocm(original_node):
            return updated_node
        return self.without(updated_node) or updated_node


class _DeviceFlagsEdit(_FlagsEdit):
    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.BaseExpression:  # noqa: N802
        remaining = self.without(updated_node)
        if remaining is None or self.is_guarded(original_node) or self.is_for_host(original_node):
            return updated_node
        plain = remaining.with_changes(lbracket=cst.LeftSquareBracket(), rbracket=cst.RightSquareBracket())
        return backend_expression(plain, updated_node, self, original_node)


def _is_our_guard(test: cst.BaseExpression) -> bool:
    return cst.Module([]).code_for_node(test) in (ROCM_GUARD, ROCM_FLAG)


def _bound_name(node: cst.CSTNode) -> str:
    """The dictionary key, keyword or variable that a value is bound to."""
    if isinstance(node, cst.DictElement):
        return string_value(node.key) or ""
    if isinstance(node, cst.Arg):
        return node.keyword.value if node.keyword else ""
    target = node.targets[0].target if isinstance(node, cst.Assign) else None
    return target.value if isinstance(target, cst.Name) else ""
