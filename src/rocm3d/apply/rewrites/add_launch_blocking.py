"""Sets HIP's counterpart of a CUDA runtime variable as well. Parameters: old, new (the two names)."""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, dotted_name, run_guarded_edit, string_value, walk
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG


def edit(data: bytes, parameters: Parameters) -> bytes:
    """After `os.environ["CUDA_LAUNCH_BLOCKING"] = "1"`, sets HIP's variable to the same value under `if is_rocm:`."""
    is_set = str(parameters["old"]).encode() in data and str(parameters["new"]).encode() not in data
    return run_guarded_edit(data, _LaunchBlockingEdit(parameters)) if is_set else data


class _LaunchBlockingEdit(GuardedEdit):
    def leave_SimpleStatementLine(  # noqa: N802
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        if not _assigns_to_environ(original_node) or self.is_guarded(original_node):
            return updated_node
        keys = [node for node in walk(original_node) if self._is_old_key(node)]
        if len(keys) != 1:
            return updated_node
        self.record_edit(original_node)
        index = cst.SubscriptElement(cst.Index(cst.SimpleString(f'"{self.parameters["new"]}"')))
        plain = original_node.with_changes(leading_lines=[], trailing_whitespace=cst.TrailingWhitespace())
        hip_assignment = plain.deep_replace(keys[0], index)
        assert isinstance(hip_assignment, cst.SimpleStatementLine)
        return cst.FlattenSentinel([updated_node, cst.If(cst.Name(ROCM_FLAG), cst.IndentedBlock([hip_assignment]))])

    def _is_old_key(self, node: cst.CSTNode) -> bool:
        index = node.slice if isinstance(node, cst.SubscriptElement) else None
        return isinstance(index, cst.Index) and string_value(index.value) == self.parameters["old"]


def _assigns_to_environ(line: cst.SimpleStatementLine) -> bool:
    match line.body:
        case [cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript(value=mapping))])]:
            return dotted_name(mapping) in ("os.environ", "environ")
    return False
