"""Skips expressions that split or compare torch.version.cuda on ROCm, where it is None."""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, compares_with_none, dotted_name, run_guarded_edit, walk
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG

_ORDER = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)


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
        for ancestor, _ in self.ancestors(node):
            if isinstance(ancestor, cst.BaseStatement):
                break
            if isinstance(ancestor, (cst.BooleanOperation, cst.IfExp)) and _checks_version(ancestor):
                return True
        return False


def _is_version(node: cst.CSTNode) -> bool:
    return dotted_name(node) == "torch.version.cuda"


def _checks_version(node: cst.BooleanOperation | cst.IfExp) -> bool:
    return _is_version(node.left if isinstance(node, cst.BooleanOperation) else node.test) or any(
        isinstance(part, cst.Comparison) and _is_version(part.left) and compares_with_none(part) for part in walk(node)
    )


def _fails_on_none(node: cst.Comparison) -> bool:
    if _is_version(node.left):
        return any(isinstance(target.operator, _ORDER) for target in node.comparisons)
    return any(map(_uses_version, walk(node)))


def _uses_version(node: cst.CSTNode) -> bool:
    """`torch.version.cuda.split(...)` or `torch.version.cuda[...]`."""
    match node:
        case cst.Call(func=cst.Attribute(value=value)) | cst.Subscript(value=value):
            return _is_version(value)
    return False
