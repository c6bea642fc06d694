"""Ignores on ROCm that a program switches cuDNN off: there the same switch disables MIOpen."""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, dotted_name, run_guarded_edit
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`torch.backends.cudnn.enabled = False` moves under `if not is_rocm:`."""
    return run_guarded_edit(data, _CudnnSwitchEdit()) if b"cudnn.enabled" in data else data


class _CudnnSwitchEdit(GuardedEdit):
    def leave_SimpleStatementLine(  # noqa: N802
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement:
        if not _switches_off(original_node) or self.is_guarded(original_node):
            return updated_node
        return self.skip_on_rocm(original_node, updated_node)


def _switches_off(line: cst.SimpleStatementLine) -> bool:
    match line.body:
        case [cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Name(value="False"))]:
            return f".{dotted_name(target)}".endswith(".cudnn.enabled")
    return False
