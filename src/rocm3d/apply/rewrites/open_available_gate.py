"""Lets a build that checks for a GPU accept a ROCm torch: an image build sees no GPU.

Parameters: asks_card (functions of torch.cuda that need a GPU).
"""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, run_guarded_edit
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG

_TORCH_CUDA = m.Attribute(value=m.Name("torch"), attr=m.Name("cuda"))
_IS_AVAILABLE = m.Call(func=m.Attribute(value=_TORCH_CUDA, attr=m.Name("is_available")), args=[])


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`if torch.cuda.is_available():` gains `or is_rocm` in builds of torch extensions, if it is the whole condition.

    A branch that queries the GPU stays unchanged: it would fail without one.
    """
    return (
        run_guarded_edit(data, _AvailableGateEdit(list_parameter(parameters, "asks_card")))
        if b"cpp_extension" in data
        else data
    )


class _AvailableGateEdit(GuardedEdit):
    def __init__(self, gpu_functions: tuple[str, ...]) -> None:
        super().__init__()
        self.gpu_query = m.OneOf(*(m.Attribute(value=_TORCH_CUDA, attr=m.Name(name)) for name in ("", *gpu_functions)))

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.If:  # noqa: N802
        if not m.matches(original_node.test, _IS_AVAILABLE) or self.is_guarded(original_node):
            return updated_node
        if m.findall(original_node.body, self.gpu_query):
            return updated_node
        self.record_edit(original_node)
        return updated_node.with_changes(
            test=cst.BooleanOperation(left=updated_node.test, operator=cst.Or(), right=cst.Name(ROCM_FLAG))
        )
