"""Turns a TF32 flag that is passed to a Triton kernel off on ROCm. Parameters: keywords."""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, dotted_name, keyword_name, run_guarded_edit
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`kernel[grid](..., ALLOW_TF32=True)` becomes `ALLOW_TF32=not is_rocm`, still True elsewhere."""
    return run_guarded_edit(data, _Tf32FlagEdit(parameters))


class _Tf32FlagEdit(GuardedEdit):
    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802
        # A launch calls the kernel subscripted with its grid.
        if not isinstance(original_node.func, cst.Subscript) or self.is_guarded(original_node):
            return updated_node
        return updated_node.with_changes(
            args=[
                argument.with_changes(value=self.not_rocm(original_node)) if self._is_flag(argument) else argument
                for argument in updated_node.args
            ]
        )

    def _is_flag(self, argument: cst.Arg) -> bool:
        return keyword_name(argument) in self.values("keywords") and dotted_name(argument.value) == "True"
