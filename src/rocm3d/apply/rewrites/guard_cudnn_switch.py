"""Ignores on ROCm that a program switches cuDNN off: there the same switch disables MIOpen."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rocm_flag import GuardedEdit, run_guarded_edit
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG

_CUDNN = m.Attribute(attr=m.Name("cudnn")) | m.Name("cudnn")
_SWITCH_OFF = m.SimpleStatementLine(
    [m.Assign([m.AssignTarget(m.Attribute(value=_CUDNN, attr=m.Name("enabled")))], m.Name("False"))]
)


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`torch.backends.cudnn.enabled = False` moves under `if not is_rocm:`."""
    return run_guarded_edit(data, _CudnnSwitchEdit()) if b"cudnn.enabled" in data else data


class _CudnnSwitchEdit(GuardedEdit):
    def leave_SimpleStatementLine(  # noqa: N802
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement:
        if not m.matches(original_node, _SWITCH_OFF) or self.is_guarded(original_node):
            return updated_node
        self.record_edit(original_node)
        return cst.If(
            test=cst.UnaryOperation(cst.Not(), cst.Name(ROCM_FLAG)),
            body=cst.IndentedBlock([updated_node.with_changes(leading_lines=[])]),
            leading_lines=updated_node.leading_lines,
        )
