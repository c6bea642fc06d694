"""Limits the pipeline stages of Triton kernels on ROCm. Parameters: stages."""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, keyword_name, last_name, run_guarded_edit
from rocm3d.model.recipe import Parameters

_KEYWORD = "num_stages"


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`kernel[grid](x, num_stages=3)` becomes `num_stages=1 if is_rocm else 3`; so do autotune configs."""
    has_stages = b"triton" in data and _KEYWORD.encode() in data
    return run_guarded_edit(data, _NumStagesEdit(parameters)) if has_stages else data


class _NumStagesEdit(GuardedEdit):
    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802
        # A launch calls the kernel subscripted with its grid.
        is_launch = isinstance(original_node.func, cst.Subscript) or last_name(original_node.func) == "Config"
        if not is_launch or self.is_guarded(original_node):
            return updated_node
        pairs = zip(original_node.args, updated_node.args, strict=True)
        return updated_node.with_changes(args=[self._argument(old, new) for old, new in pairs])

    def _argument(self, old: cst.Arg, new: cst.Arg) -> cst.Arg:
        value, stages = old.value, str(self.parameters["stages"])
        if keyword_name(old) != _KEYWORD or isinstance(value, cst.IfExp):
            return new
        if not isinstance(value, cst.Integer):
            self.refusal = f"{_KEYWORD} is not an integer literal"
            return new
        if value.evaluated_value <= int(stages):
            return new
        return new.with_changes(value=self.choose(cst.Integer(stages), value, value))
