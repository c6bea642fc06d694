"""Empties lists of NVIDIA architecture flags on ROCm, where torch chooses the target. Parameters: prefixes."""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, leading_text, run_guarded_edit
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`[f"-gencode=..." for a in archs]` becomes `[] if is_rocm else [...]` where torch extensions are built."""
    return run_guarded_edit(data, _ArchFlagsEdit(parameters)) if b"cpp_extension" in data else data


class _ArchFlagsEdit(GuardedEdit):
    def leave_ListComp(self, original_node: cst.ListComp, updated_node: cst.ListComp) -> cst.BaseExpression:  # noqa: N802
        is_arch_flag = leading_text(original_node.elt).startswith(self.values("prefixes"))
        if not is_arch_flag or self.is_guarded(original_node):
            return updated_node
        return self.choose(cst.List([]), updated_node, original_node)
