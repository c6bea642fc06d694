"""Undefines HIP's half switches on ROCm where a build undefines CUDA's.

Parameters: switches (without either prefix), cuda_prefix, rocm_prefix.
"""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rocm_flag import GuardedEdit, extended_list, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`["-U__CUDA_X"]` gains `-U__HIP_X` on ROCm, in a module that builds torch extensions."""
    if b"cpp_extension" not in data:
        raise RewriteRefusedError("this file does not build an extension, so it has no switches to undefine")
    return run_guarded_edit(data, _HalfSwitchesEdit(parameters))


class _HalfSwitchesEdit(GuardedEdit):
    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.BaseExpression:  # noqa: N802
        added = self._missing_flags(original_node)
        if not added:
            return updated_node
        rocm_list = extended_list(original_node, added)
        if self.is_chosen_for_rocm(original_node):
            self.record_edit(original_node)
            return rocm_list
        return updated_node if self.is_guarded(original_node) else self.choose(rocm_list, original_node, original_node)

    def _missing_flags(self, node: cst.List) -> list[str]:
        texts = [string_value(element.value) for element in node.elements]
        # Either `-UNAME` or `-U`, `NAME`.
        undefined_names = {text.removeprefix("-U").strip() for text in texts if text is not None}
        cuda, rocm = self.parameters["cuda_prefix"], self.parameters["rocm_prefix"]
        hip_names = [f"{rocm}{name}" for name in self.values("switches") if f"{cuda}{name}" in undefined_names]
        return [f"-U{name}" for name in hip_names if name not in undefined_names]
