"""Passes the ROCm macros to the host files of a JIT extension: torch does not define them there.

Parameters: macros.
"""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit
from rocm3d.model.recipe import Parameters

_LOAD_FUNCTIONS = ("load", "load_inline")
_KEYWORD = "extra_cflags"


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`extra_cflags=["-O3"]` gains the macros on ROCm; a call without a list of flags is refused."""
    if b"cpp_extension" not in data:
        return data
    return run_guarded_edit(data, _JitMacrosEdit(tuple(f"-D{name}=1" for name in list_parameter(parameters, "macros"))))


class _JitMacrosEdit(GuardedEdit):
    def __init__(self, flags: tuple[str, ...]) -> None:
        super().__init__()
        self.flags = flags
        self.load_names: set[str] = set()

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:  # noqa: N802
        if isinstance(node.names, cst.ImportStar) or not _is_cpp_extension(node.module):
            return
        self.load_names |= {
            alias.evaluated_alias or alias.evaluated_name
            for alias in node.names
            if alias.evaluated_name in _LOAD_FUNCTIONS
        }

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802
        if not self._is_load(original_node.func) or self.is_guarded(original_node):
            return updated_node
        index = next(
            (i for i, arg in enumerate(original_node.args) if m.matches(arg, m.Arg(keyword=m.Name(_KEYWORD)))), None
        )
        value = None if index is None else original_node.args[index].value
        if isinstance(value, cst.IfExp):
            return updated_node
        if index is None or not isinstance(value, cst.List):
            raise RewriteRefusedError(
                f"the call has no list literal for {_KEYWORD}, so the macros cannot be added for ROCm alone"
            )
        added = [cst.Element(cst.SimpleString(f'"{flag}"')) for flag in self.flags]
        plain = [element.with_changes(comma=cst.MaybeSentinel.DEFAULT) for element in value.elements]
        choice = backend_expression(cst.List([*plain, *added]), value, self, value)
        arguments = list(updated_node.args)
        arguments[index] = arguments[index].with_changes(value=choice)
        return updated_node.with_changes(args=arguments)

    def _is_load(self, function: cst.BaseExpression) -> bool:
        if isinstance(function, cst.Name):
            return function.value in self.load_names
        return (
            isinstance(function, cst.Attribute)
            and function.attr.value in _LOAD_FUNCTIONS
            and _is_cpp_extension(function.value)
        )


def _is_cpp_extension(node: cst.BaseExpression | None) -> bool:
    return m.matches(node, m.Name("cpp_extension") | m.Attribute(attr=m.Name("cpp_extension"))) if node else False
