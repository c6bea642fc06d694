"""Replaces a compute capability threshold that means a feature by a query for that feature on ROCm.

Parameters: threshold (major version), near (words that indicate the feature), ask (the expression that queries it).
"""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit
from rocm3d.model.recipe import Parameters

_GET_CAPABILITY = m.Attribute(attr=m.Name("get_device_capability")) | m.Name("get_device_capability")
_MAJOR = m.Subscript(
    value=m.Call(func=_GET_CAPABILITY), slice=[m.SubscriptElement(m.Index(m.Integer("0")))]
) | m.Attribute(value=m.Call(func=m.Attribute(attr=m.Name("get_device_properties"))), attr=m.Name("major"))
_CAPABILITY_QUERY = m.Call(func=_GET_CAPABILITY) | m.Attribute(attr=m.Name("major"))


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`get_device_capability()[0] >= 8` next to bfloat16 becomes `is_bf16_supported() if is_rocm else ...`."""
    if b"get_device_" not in data:
        return data
    (threshold,), (query,) = list_parameter(parameters, "threshold"), list_parameter(parameters, "ask")
    feature_edit = _FeatureQueryEdit(threshold, list_parameter(parameters, "near"), cst.parse_expression(query))
    after = run_guarded_edit(data, feature_edit)
    if after == data and feature_edit.skipped:
        raise RewriteRefusedError(
            "the code does not say which feature the compute capability threshold means; decide by hand"
        )
    return after


class _FeatureQueryEdit(GuardedEdit):
    def __init__(self, threshold: str, feature_terms: tuple[str, ...], query: cst.BaseExpression) -> None:
        super().__init__()
        self.feature_terms, self.query, self.skipped = feature_terms, query, 0
        self.threshold_check = m.Comparison(
            left=_MAJOR, comparisons=[m.ComparisonTarget(m.GreaterThanEqual(), m.Integer(threshold))]
        )

    def leave_Comparison(  # noqa: N802
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        if not m.findall(original_node, _CAPABILITY_QUERY) or self.is_guarded(original_node):
            return updated_node
        if not m.matches(original_node, self.threshold_check) or not self._is_near_feature(original_node):
            self.skipped += 1
            return updated_node
        return backend_expression(self.query, updated_node, self, original_node)

    def _is_near_feature(self, node: cst.CSTNode) -> bool:
        """Whether the enclosing statement names the feature. An `if` counts only if its body is one statement."""
        statement: cst.CSTNode | None = node
        while statement is not None and not isinstance(statement, cst.BaseStatement):
            statement = self.parent_of(statement)
        if isinstance(statement, cst.If) and len(statement.body.body) == 1:
            statement = statement.with_changes(orelse=None)
        elif not isinstance(statement, cst.SimpleStatementLine):
            return False
        text = cst.Module([statement.with_changes(leading_lines=[])]).code
        return any(term in text for term in self.feature_terms)
