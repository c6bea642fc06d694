"""Checks the value of torch.version.hip instead of its presence: every build of torch has the attribute.

The edit changes what NVIDIA users run, on purpose. Isolation cannot be proven, so recipes list it as advice and apply
never makes it.
"""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, dotted_name, parse_or_refuse, string_value
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`hasattr(torch.version, "hip")` becomes `torch.version.hip is not None`; with `not` before it, `is None`."""
    return parse_or_refuse(data, _HipValueEdit()).bytes if b"hasattr" in data else data


class _HipValueEdit(GuardedEdit):
    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        # leave_UnaryOperation replaces a negated call together with its `not`.
        if not self._is_hip_check(original_node) or _is_negation(self.parent_of(original_node)):
            return updated_node
        return self._comparison(original_node, updated_node, cst.IsNot())

    def leave_UnaryOperation(  # noqa: N802
        self, original_node: cst.UnaryOperation, updated_node: cst.UnaryOperation
    ) -> cst.BaseExpression:
        call = updated_node.expression
        if not self._is_hip_check(original_node.expression) or not _is_negation(original_node):
            return updated_node
        assert isinstance(call, cst.Call)
        return self._comparison(original_node, call, cst.Is())

    def _is_hip_check(self, node: cst.CSTNode) -> bool:
        match node:
            case cst.Call(
                func=cst.Name(value="hasattr"),
                args=[cst.Arg(value=owner, keyword=None, star=""), cst.Arg(value=name, keyword=None, star="")],
            ):
                is_hip = dotted_name(owner) == "torch.version" and string_value(name) == "hip"
                return is_hip and not self.is_guarded(node)
        return False

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


def _is_negation(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not)
