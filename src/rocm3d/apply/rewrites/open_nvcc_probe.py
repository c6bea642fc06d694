"""Ignores a failed search for NVIDIA's compiler on ROCm. Parameters: tools."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG

_WHICH = m.Call(func=m.Attribute(value=m.Name("shutil"), attr=m.Name("which")) | m.Name("which"))


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`shutil.which("nvcc") is None` gains `and not is_rocm`; `is not None` gains `or is_rocm`."""
    return (
        run_guarded_edit(data, _NvccProbeEdit(list_parameter(parameters, "tools")))
        if b"cpp_extension" in data
        else data
    )


class _NvccProbeEdit(GuardedEdit):
    def __init__(self, tools: tuple[str, ...]) -> None:
        super().__init__()
        self.tools = tools

    def leave_Comparison(  # noqa: N802
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        if not self._is_tool_search(original_node) or self.is_guarded(original_node):
            return updated_node
        is_not_none = isinstance(original_node.comparisons[0].operator, cst.IsNot)
        self.record_edit(original_node)
        left, right = self.parentheses(original_node, cst.If, cst.While, cst.Assign, cst.AnnAssign, cst.Arg, cst.Return)
        flag = cst.Name(ROCM_FLAG)
        return cst.BooleanOperation(
            left=updated_node,
            operator=cst.Or() if is_not_none else cst.And(),
            right=flag if is_not_none else cst.UnaryOperation(cst.Not(), flag),
            lpar=left,
            rpar=right,
        )

    def _is_tool_search(self, node: cst.Comparison) -> bool:
        none = [m.ComparisonTarget(m.Is() | m.IsNot(), m.Name("None"))]
        if not m.matches(node, m.Comparison(left=_WHICH, comparisons=none)) or not isinstance(node.left, cst.Call):
            return False
        return bool(node.left.args) and string_value(node.left.args[0].value) in self.tools
