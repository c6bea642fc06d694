"""Replaces a compute capability threshold that means a feature by a query for that feature on ROCm.

Parameters: threshold (major version), near (words that indicate the feature), ask (the expression that queries it).
"""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit
from rocm3d.model.recipe import Parameters

_CALLED = m.Attribute(attr=m.Name("get_device_capability")) | m.Name("get_device_capability")
_MAJOR = m.Subscript(value=m.Call(func=_CALLED), slice=[m.SubscriptElement(m.Index(m.Integer("0")))]) | m.Attribute(
    value=m.Call(func=m.Attribute(attr=m.Name("get_device_properties"))), attr=m.Name("major")
)
_ASKED = m.Call(func=_CALLED) | m.Attribute(attr=m.Name("major"))


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`get_device_capability()[0] >= 8` next to bfloat16 becomes `is_bf16_supported() if is_rocm else ...`."""
    if b"get_device_" not in data:
        return data
    (threshold,), (ask,) = list_parameter(parameters, "threshold"), list_parameter(parameters, "ask")
    asking = _Ask(threshold, list_parameter(parameters, "near"), cst.parse_expression(ask))
    after = run_guarded_edit(data, asking)
    if after == data and asking.left:
        raise RewriteRefusedError("the code does not say which feature the compute capability threshold means; decide by hand")
    return after


class _Ask(GuardedEdit):
    def __init__(self, threshold: str, near: tuple[str, ...], ask: cst.BaseExpression) -> None:
        super().__init__()
        self.near, self.ask, self.left = near, ask, 0
        self.wanted = m.Comparison(
            left=_MAJOR, comparisons=[m.ComparisonTarget(m.GreaterThanEqual(), m.Integer(threshold))]
        )

    def leave_Comparison(  # noqa: N802
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        if not m.findall(original_node, _ASKED) or self.is_guarded(original_node):
            return updated_node
        if not m.matches(original_node, self.wanted) or not self._is_near(original_node):
            self.left += 1
            return updated_node
        return backend_expression(self.ask, updated_node, self, original_node)

    def _is_near(self, node: cst.CSTNode) -> bool:
        """Whether the enclosing statement names the feature. An `if` counts only if its body is one statement."""
        around: cst.CSTNode | None = node
        while around is not None and not isinstance(around, cst.BaseStatement):
            around = self.parent_of(around)
        if isinstance(around, cst.If) and len(around.body.body) == 1:
            around = around.with_changes(orelse=None)
        elif not isinstance(around, cst.SimpleStatementLine):
            return False
        text = cst.Module([around.with_changes(leading_lines=[])]).code
        return any(word in text for word in self.near)


rewrite = Rewrite(__name__, edit)
