"""Removes clang's fast-math flags from device compilation on ROCm. Parameters: flags."""

from __future__ import annotations

import re

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.guarded_import import parse_or_refuse
from rocm3d.apply.rewrite import Rewrite, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG, ROCM_GUARD

_HOST = re.compile(r"(?i)(.*cxx.*|c_?flags|.*extra_cflags|cpp_?flags)$")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """A list that only ROCm reads loses the flags; any other list of device flags becomes a choice by backend."""
    flags = list_parameter(parameters, "flags")
    if b"cpp_extension" not in data or not any(flag.encode() in data for flag in flags):
        return data
    return run_guarded_edit(cst.MetadataWrapper(parse_or_refuse(data)).visit(_Drop(flags)).bytes, _Choose(flags))


class _Flags(GuardedEdit):
    """Common part of both edits: which lists have the flags, and which compiler gets a list."""

    def __init__(self, flags: tuple[str, ...]) -> None:
        super().__init__()
        self.flags = flags

    def without(self, node: cst.List) -> cst.List | None:
        """The list without the flags; None if it has none of them."""
        kept = [element for element in node.elements if string_value(element.value) not in self.flags]
        if len(kept) == len(node.elements):
            return None
        return node.with_changes(elements=[item.with_changes(comma=cst.MaybeSentinel.DEFAULT) for item in kept])

    def is_for_rocm(self, node: cst.CSTNode) -> bool:
        """Whether an enclosing choice by exactly our guard selects the list for ROCm only."""
        inner, around = node, self.parent_of(node)
        while around is not None:
            if isinstance(around, (cst.If, cst.IfExp)) and inner is around.body and _asks(around.test):
                return True
            inner, around = around, self.parent_of(around)
        return False

    def is_for_host(self, node: cst.CSTNode) -> bool:
        """Whether a key, keyword, variable or plain C++ extension passes the list to the host compiler."""
        around = self.parent_of(node)
        while around is not None and not isinstance(around, cst.BaseStatement):
            if _HOST.match(_binds(around)) or m.matches(around, m.Call(func=_CPP)):
                return True
            around = self.parent_of(around)
        return False


_CPP = m.Name("CppExtension") | m.Attribute(attr=m.Name("CppExtension"))


class _Drop(_Flags):
    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.List:  # noqa: N802
        if not self.is_for_rocm(original_node):
            return updated_node
        return self.without(updated_node) or updated_node


class _Choose(_Flags):
    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.BaseExpression:  # noqa: N802
        kept = self.without(updated_node)
        if kept is None or self.is_guarded(original_node) or self.is_for_host(original_node):
            return updated_node
        plain = kept.with_changes(lbracket=cst.LeftSquareBracket(), rbracket=cst.RightSquareBracket())
        return backend_expression(plain, updated_node, self, original_node)


def _asks(test: cst.BaseExpression) -> bool:
    return cst.Module([]).code_for_node(test) in (ROCM_GUARD, ROCM_FLAG)


def _binds(node: cst.CSTNode) -> str:
    """The dictionary key, keyword or variable that a value is bound to."""
    if isinstance(node, cst.DictElement):
        return string_value(node.key) or ""
    if isinstance(node, cst.Arg):
        return node.keyword.value if node.keyword else ""
    target = node.targets[0].target if isinstance(node, cst.Assign) else None
    return target.value if isinstance(target, cst.Name) else ""


rewrite = Rewrite(__name__, edit)
