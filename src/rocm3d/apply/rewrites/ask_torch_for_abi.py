"""Builds with the C++11 ABI that torch was built with. Parameters: macro."""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`"-D_GLIBCXX_USE_CXX11_ABI=0"` takes torch's value on ROCm, in a module that builds torch extensions."""
    return run_guarded_edit(data, _AbiFlagEdit(parameters)) if b"cpp_extension" in data else data


class _AbiFlagEdit(GuardedEdit):
    def leave_SimpleString(  # noqa: N802
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.BaseExpression:
        flag = f"-D{self.parameters['macro']}="
        if string_value(original_node) not in (f"{flag}0", f"{flag}1") or self.is_guarded(original_node):
            return updated_node
        torch_flag = cst.parse_expression(f'f"{flag}{{int(torch.compiled_with_cxx11_abi())}}"')
        return self.choose(torch_flag, updated_node, original_node)
