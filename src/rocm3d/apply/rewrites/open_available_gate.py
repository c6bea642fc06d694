"""Lets a build that checks for a GPU accept a ROCm torch: an image build sees no GPU.

Parameters: asks_card (functions of torch.cuda that need a GPU).
"""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, dotted_name, run_guarded_edit, walk
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`if torch.cuda.is_available():` gains `or is_rocm` in builds of torch extensions, if it is the whole condition.

    A branch that queries the GPU stays unchanged: it would fail without one.
    """
    return run_guarded_edit(data, _AvailableGateEdit(parameters)) if b"cpp_extension" in data else data


class _AvailableGateEdit(GuardedEdit):
    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.If:  # noqa: N802
        if not _is_available_call(original_node.test) or self.is_guarded(original_node):
            return updated_node
        gpu_queries = {f"torch.cuda.{name}" for name in self.values("asks_card")}
        if any(dotted_name(node) in gpu_queries for node in walk(original_node.body)):
            return updated_node
        self.record_edit(original_node)
        return updated_node.with_changes(
            test=cst.BooleanOperation(left=updated_node.test, operator=cst.Or(), right=cst.Name(ROCM_FLAG))
        )


def _is_available_call(test: cst.BaseExpression) -> bool:
    return isinstance(test, cst.Call) and not test.args and dotted_name(test.func) == "torch.cuda.is_available"
