"""Skips expressions that split or compare torch.version.cuda on ROCm, where it is None."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rocm_flag import GuardedEdit, run_guarded_edit
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG

_VERSION = m.Attribute(value=m.Attribute(value=m.Name("torch"), attr=m.Name("version")), attr=m.Name("cuda"))
_VERSION_USE = m.Call(func=m.Attribute(value=_VERSION)) | m.Subscript(value=_VERSION)
_ORDER = m.LessThan() | m.LessThanEqual() | m.GreaterThan() | m.GreaterThanEqual()


def edit(data: bytes, parameters: Parameters) -> bytes:
    """An assert passes on ROCm; any other comparison is false there."""
    return run_guarded_edit(data, _CudaVersionEdit())


class _CudaVersionEdit(GuardedEdit):
    def leave_Comparison(  # noqa: N802
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        if not _fails_on_none(original_node) or self._is_guarded_by_value(original_node):
            return updated_node
        self.record_edit(original_node)
        flag = cst.Name(ROCM_FLAG)
        is_assert = isinstance(self.parent_of(original_node), cst.Assert)
        left, right = self.parentheses(
            original_node, cst.If, cst.While, cst.Assert, cst.Assign, cst.AnnAssign, cst.Arg, cst.Return
        )
        return cst.BooleanOperation(
            left=flag if is_assert else cst.UnaryOperation(cst.Not(), flag),
            operator=cst.Or() if is_assert else cst.And(),
            right=updated_node,
            lpar=left,
            rpar=right,
        )

    def _is_guarded_by_value(self, node: cst.CSTNode) -> bool:
        """Whether an enclosing expression checks for ROCm, or for a version that is not None."""
        if self.is_guarded(node):
            return True
        ancestor = self.parent_of(node)
        while ancestor is not None and not isinstance(ancestor, cst.BaseStatement):
            if isinstance(ancestor, (cst.BooleanOperation, cst.IfExp)) and _checks_version(ancestor):
                return True
            ancestor = self.parent_of(ancestor)
        return False


def _checks_version(node: cst.CSTNode) -> bool:
    none_check = m.Comparison(left=_VERSION, comparisons=[m.ComparisonTarget(m.Is() | m.IsNot(), m.Name("None"))])
    truth_check = m.BooleanOperation(left=_VERSION) | m.IfExp(test=_VERSION)
    return bool(m.findall(node, none_check)) or m.matches(node, truth_check)


def _fails_on_none(node: cst.Comparison) -> bool:
    if m.matches(node.left, _VERSION):
        return any(m.matches(target.operator, _ORDER) for target in node.comparisons)
    return bool(m.findall(node, _VERSION_USE))
