"""Undefines HIP's half switches on ROCm where a build undefines CUDA's.

Parameters: switches (without either prefix), cuda_prefix, rocm_prefix.
"""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`["-U__CUDA_X"]` gains `-U__HIP_X` on ROCm, in a module that builds torch extensions."""
    if b"cpp_extension" not in data:
        raise RewriteRefusedError("this file does not build an extension, so it has no switches to undefine")
    cuda, rocm = str(parameters["cuda_prefix"]), str(parameters["rocm_prefix"])
    return run_guarded_edit(
        data, _HalfSwitchesEdit({f"{cuda}{name}": f"{rocm}{name}" for name in list_parameter(parameters, "switches")})
    )


class _HalfSwitchesEdit(GuardedEdit):
    def __init__(self, switches: dict[str, str]) -> None:
        super().__init__()
        self.switches = switches

    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.BaseExpression:  # noqa: N802
        added = self._missing_flags(original_node)
        if not added:
            return updated_node
        plain = [element.with_changes(comma=cst.MaybeSentinel.DEFAULT) for element in original_node.elements]
        rocm_list = cst.List([*plain, *(cst.Element(cst.SimpleString(f'"{text}"')) for text in added)])
        if self._is_for_rocm(original_node):
            self.record_edit(original_node)
            return rocm_list
        return (
            updated_node
            if self.is_guarded(original_node)
            else backend_expression(rocm_list, original_node, self, original_node)
        )

    def _is_for_rocm(self, node: cst.List) -> bool:
        """Whether an earlier choice by backend selects the list for ROCm only."""
        parent = self.parent_of(node)
        return isinstance(parent, cst.IfExp) and parent.body is node and m.matches(parent.test, m.Name(ROCM_FLAG))

    def _missing_flags(self, node: cst.List) -> list[str]:
        texts = [string_value(element.value) for element in node.elements]
        # Either `-UNAME` or `-U`, `NAME`.
        undefined_names = {text.removeprefix("-U").strip() for text in texts if text is not None}
        hip_names = [rocm for cuda, rocm in self.switches.items() if cuda in undefined_names]
        return [f"-U{name}" for name in hip_names if name not in undefined_names]
