"""Lets a check that CUDA's toolkit is there accept a ROCm torch.

Parameters: names (of the toolkit's folder, compared with None), tools (searched for in builds of torch extensions).
"""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import (
    GuardedEdit,
    compares_with_none,
    dotted_name,
    last_name,
    run_guarded_edit,
    string_value,
)
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`CUDA_HOME is not None` gains `or is_rocm`; `shutil.which("nvcc") is None` gains `and not is_rocm`."""
    if "tools" in parameters and b"cpp_extension" not in data:
        return data
    return run_guarded_edit(data, _ToolkitCheckEdit(parameters))


class _ToolkitCheckEdit(GuardedEdit):
    def leave_Comparison(  # noqa: N802
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        is_check = compares_with_none(original_node) and self._is_from_toolkit(original_node.left)
        if not is_check or self.is_guarded(original_node):
            return updated_node
        is_present = isinstance(original_node.comparisons[0].operator, cst.IsNot)
        self.record_edit(original_node)
        flag = cst.Name(ROCM_FLAG)
        left, right = self.parentheses(original_node, cst.If, cst.While, cst.Assign, cst.AnnAssign, cst.Arg, cst.Return)
        return cst.BooleanOperation(
            left=updated_node,
            operator=cst.Or() if is_present else cst.And(),
            right=flag if is_present else cst.UnaryOperation(cst.Not(), flag),
            lpar=left,
            rpar=right,
        )

    def _is_from_toolkit(self, value: cst.BaseExpression) -> bool:
        if not isinstance(value, cst.Call):
            return last_name(value) in self.values("names")
        is_search = dotted_name(value.func) in ("shutil.which", "which") and bool(value.args)
        return is_search and string_value(value.args[0].value) in self.values("tools")
