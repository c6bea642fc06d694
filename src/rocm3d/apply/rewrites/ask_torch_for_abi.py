"""Builds with the C++11 ABI that torch was built with. Parameters: macro."""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`"-D_GLIBCXX_USE_CXX11_ABI=0"` takes torch's value on ROCm, in a module that builds torch extensions."""
    return run_guarded_edit(data, _AbiFlagEdit(str(parameters["macro"]))) if b"cpp_extension" in data else data


class _AbiFlagEdit(GuardedEdit):
    def __init__(self, macro: str) -> None:
        super().__init__()
        self.macro = macro

    def leave_SimpleString(  # noqa: N802
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.BaseExpression:
        if string_value(original_node) not in (f"-D{self.macro}=0", f"-D{self.macro}=1") or self.is_guarded(
            original_node
        ):
            return updated_node
        torch_flag = cst.parse_expression(f'f"-D{self.macro}={{int(torch.compiled_with_cxx11_abi())}}"')
        return backend_expression(torch_flag, updated_node, self, original_node)
