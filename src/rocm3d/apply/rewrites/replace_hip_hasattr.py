"""Checks the value of torch.version.hip instead of its presence: every build of torch has the attribute.

The edit changes what NVIDIA users run, on purpose. Isolation cannot be proven, so recipes list it as advice and apply
never makes it.
"""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.guarded_import import parse_or_refuse
from rocm3d.apply.rocm_flag import GuardedEdit, string_value
from rocm3d.model.recipe import Parameters

_VERSION = m.Attribute(value=m.Name("torch"), attr=m.Name("version"))
_HASATTR_CALL = m.Call(
    func=m.Name("hasattr"),
    args=[m.Arg(_VERSION, keyword=None, star=""), m.Arg(m.SimpleString(), keyword=None, star="")],
)


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`hasattr(torch.version, "hip")` becomes `torch.version.hip is not None`; with `not` before it, `is None`."""
    if b"hasattr" not in data:
        return data
    return cst.MetadataWrapper(parse_or_refuse(data)).visit(_HipValueEdit()).bytes


class _HipValueEdit(GuardedEdit):
    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        # leave_UnaryOperation replaces a negated call together with its `not`.
        if not self._is_hip_check(original_node) or self._negation(original_node) is not None:
            return updated_node
        return self._comparison(original_node, updated_node, cst.IsNot())

    def leave_UnaryOperation(  # noqa: N802
        self, original_node: cst.UnaryOperation, updated_node: cst.UnaryOperation
    ) -> cst.BaseExpression:
        call = updated_node.expression
        if not self._is_hip_check(original_node.expression) or not isinstance(original_node.operator, cst.Not):
            return updated_node
        assert isinstance(call, cst.Call)
        return self._comparison(original_node, call, cst.Is())

    def _negation(self, call: cst.Call) -> cst.UnaryOperation | None:
        parent = self.parent_of(call)
        return parent if isinstance(parent, cst.UnaryOperation) and isinstance(parent.operator, cst.Not) else None

    def _is_hip_check(self, node: cst.CSTNode) -> bool:
        if not m.matches(node, _HASATTR_CALL) or self.is_guarded(node):
            return False
        assert isinstance(node, cst.Call)
        return string_value(node.args[1].value) == "hip"

    def _comparison(self, node: cst.CSTNode, call: cst.Call, operator: cst.BaseCompOp) -> cst.Comparison:
        left, right = self.parentheses(
            node, cst.If, cst.While, cst.Assert, cst.Assign, cst.AnnAssign, cst.Arg, cst.Return, cst.BooleanOperation
        )
        return cst.Comparison(
            left=cst.Attribute(call.args[0].value, cst.Name("hip")),
            comparisons=[cst.ComparisonTarget(operator, cst.Name("None"))],
            lpar=left,
            rpar=right,
        )
