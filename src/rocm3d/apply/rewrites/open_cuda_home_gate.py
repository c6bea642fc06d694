"""Lets a comparison of CUDA_HOME with None accept a ROCm torch."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rocm_flag import GuardedEdit, run_guarded_edit
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG

_CUDA_HOME = m.Name("CUDA_HOME") | m.Attribute(attr=m.Name("CUDA_HOME"))
_IS_SET = m.Comparison(left=_CUDA_HOME, comparisons=[m.ComparisonTarget(m.IsNot(), m.Name("None"))])
_IS_MISSING = m.Comparison(left=_CUDA_HOME, comparisons=[m.ComparisonTarget(m.Is(), m.Name("None"))])


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`CUDA_HOME is not None` gains `or is_rocm`; `CUDA_HOME is None` gains `and not is_rocm`."""
    return run_guarded_edit(data, _CudaHomeEdit())


class _CudaHomeEdit(GuardedEdit):
    def leave_Comparison(  # noqa: N802
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        is_set = m.matches(original_node, _IS_SET)
        if not (is_set or m.matches(original_node, _IS_MISSING)) or self.is_guarded(original_node):
            return updated_node
        self.record_edit(original_node)
        left, right = self.parentheses(original_node, cst.If, cst.While, cst.Assign, cst.AnnAssign, cst.Arg, cst.Return)
        flag = cst.Name(ROCM_FLAG)
        return cst.BooleanOperation(
            left=updated_node,
            operator=cst.Or() if is_set else cst.And(),
            right=flag if is_set else cst.UnaryOperation(cst.Not(), flag),
            lpar=left,
            rpar=right,
        )
