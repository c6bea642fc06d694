"""Limits the pipeline stages of Triton kernels on ROCm. Parameters: stages."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit
from rocm3d.model.recipe import Parameters

_KEYWORD = "num_stages"
_CONFIG = m.Call(func=m.Attribute(attr=m.Name("Config")) | m.Name("Config"))


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`kernel[grid](x, num_stages=3)` becomes `num_stages=1 if is_rocm else 3`; so do autotune configs."""
    (stages,) = list_parameter(parameters, "stages")
    if b"triton" not in data or _KEYWORD.encode() not in data:
        return data
    stages_edit = _NumStagesEdit(int(stages))
    after = run_guarded_edit(data, stages_edit)
    if after == data and stages_edit.skipped:
        raise RewriteRefusedError(f"{_KEYWORD} is not an integer literal")
    return after


class _NumStagesEdit(GuardedEdit):
    def __init__(self, stages: int) -> None:
        super().__init__()
        self.stages, self.skipped = stages, 0

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802
        # A launch calls the kernel subscripted with its grid.
        is_launch = isinstance(original_node.func, cst.Subscript) or m.matches(original_node, _CONFIG)
        if not is_launch or self.is_guarded(original_node):
            return updated_node
        pairs = zip(original_node.args, updated_node.args, strict=True)
        return updated_node.with_changes(args=[self._argument(old, new) for old, new in pairs])

    def _argument(self, old: cst.Arg, new: cst.Arg) -> cst.Arg:
        value = old.value
        if old.keyword is None or old.keyword.value != _KEYWORD:
            return new
        if not isinstance(value, cst.Integer):
            self.skipped += not isinstance(value, cst.IfExp)
            return new
        if value.evaluated_value <= self.stages:
            return new
        return new.with_changes(value=backend_expression(cst.Integer(str(self.stages)), value, self, value))
