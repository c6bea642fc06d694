"""Passes the ROCm macros to the host files of a JIT extension: torch does not define them there.

Parameters: macros.
"""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rocm_flag import GuardedEdit, extended_list, keyword_name, last_name, run_guarded_edit
from rocm3d.model.recipe import Parameters

_MODULE = "cpp_extension"
_LOAD_FUNCTIONS = ("load", "load_inline")
_KEYWORD = "extra_cflags"


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`extra_cflags=["-O3"]` gains the macros on ROCm; a call without a list of flags is refused."""
    return run_guarded_edit(data, _JitMacrosEdit(parameters)) if _MODULE.encode() in data else data


class _JitMacrosEdit(GuardedEdit):
    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        self.load_names: set[str] = set()

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:  # noqa: N802
        if isinstance(node.names, cst.ImportStar) or last_name(node.module) != _MODULE:
            return
        self.load_names |= {
            alias.evaluated_alias or alias.evaluated_name
            for alias in node.names
            if alias.evaluated_name in _LOAD_FUNCTIONS
        }

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802
        if not self._is_load(original_node.func) or self.is_guarded(original_node):
            return updated_node
        keywords = list(map(keyword_name, original_node.args))
        value = original_node.args[keywords.index(_KEYWORD)].value if _KEYWORD in keywords else None
        if isinstance(value, cst.IfExp):
            return updated_node
        if not isinstance(value, cst.List):
            raise RewriteRefusedError(
                f"the call has no list literal for {_KEYWORD}, so the macros cannot be added for ROCm alone"
            )
        choice = self.choose(extended_list(value, (f"-D{name}=1" for name in self.values("macros"))), value, value)
        arguments = list(updated_node.args)
        index = keywords.index(_KEYWORD)
        arguments[index] = arguments[index].with_changes(value=choice)
        return updated_node.with_changes(args=arguments)

    def _is_load(self, function: cst.BaseExpression) -> bool:
        if isinstance(function, cst.Attribute):
            return function.attr.value in _LOAD_FUNCTIONS and last_name(function.value) == _MODULE
        return isinstance(function, cst.Name) and function.value in self.load_names
