"""Replaces a compute capability threshold that means a feature by a query for that feature on ROCm.

Parameters: threshold (major version), near (words that indicate the feature), ask (the expression that queries it).
"""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, last_name, run_guarded_edit, walk
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`get_device_capability()[0] >= 8` next to bfloat16 becomes `is_bf16_supported() if is_rocm else ...`."""
    return run_guarded_edit(data, _FeatureQueryEdit(parameters)) if b"get_device_" in data else data


class _FeatureQueryEdit(GuardedEdit):
    def leave_Comparison(  # noqa: N802
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        if not any(map(_is_capability_query, walk(original_node))) or self.is_guarded(original_node):
            return updated_node
        if not self._is_threshold_check(original_node) or not self._is_near_feature(original_node):
            self.refusal = "the code does not say which feature the compute capability threshold means; decide by hand"
            return updated_node
        return self.choose(cst.parse_expression(str(self.parameters["ask"])), updated_node, original_node)

    def _is_threshold_check(self, node: cst.Comparison) -> bool:
        match node.comparisons:
            case [cst.ComparisonTarget(operator=cst.GreaterThanEqual(), comparator=cst.Integer(value=number))]:
                return number == str(self.parameters["threshold"]) and _is_major(node.left)
        return False

    def _is_near_feature(self, node: cst.CSTNode) -> bool:
        """Whether the enclosing statement names the feature. An `if` counts only if its body is one statement."""
        statement = next(ancestor for ancestor, _ in self.ancestors(node) if isinstance(ancestor, cst.BaseStatement))
        if isinstance(statement, cst.If) and len(statement.body.body) == 1:
            statement = statement.with_changes(orelse=None)
        elif not isinstance(statement, cst.SimpleStatementLine):
            return False
        text = cst.Module([statement.with_changes(leading_lines=[])]).code
        return any(term in text for term in self.values("near"))


def _is_capability_query(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Call):
        return last_name(node.func) == "get_device_capability"
    return isinstance(node, cst.Attribute) and node.attr.value == "major"


def _is_major(node: cst.BaseExpression) -> bool:
    """`get_device_capability(...)[0]` or `x.get_device_properties(...).major`."""
    match node:
        case cst.Subscript(
            value=cst.Call(func=function),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))],
        ):
            return last_name(function) == "get_device_capability"
        case cst.Attribute(value=cst.Call(func=cst.Attribute(attr=function)), attr=cst.Name(value="major")):
            return function.value == "get_device_properties"
    return False
