"""A build that asks whether a GPU is there accepts a ROCm torch, as an image build sees none."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import Rewrite
from rocm3d.apply.rocm_flag import GuardedEdit, edited
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import FLAG

_ASKED = m.Call(
    func=m.Attribute(value=m.Attribute(value=m.Name("torch"), attr=m.Name("cuda")), attr=m.Name("is_available")),
    args=[],
)


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`if torch.cuda.is_available():` gains `or is_rocm` where torch extensions are built; only whole conditions."""
    return edited(data, _Gate()) if b"cpp_extension" in data else data


class _Gate(GuardedEdit):
    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.If:  # noqa: N802
        if not m.matches(original_node.test, _ASKED) or self.is_guarded(original_node):
            return updated_node
        self.note(original_node)
        return updated_node.with_changes(
            test=cst.BooleanOperation(left=updated_node.test, operator=cst.Or(), right=cst.Name(FLAG))
        )


rewrite = Rewrite(__name__, edit)
