"""Sets HIP's counterpart of a CUDA runtime variable as well. Parameters: old, new (the two names)."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG

_ENVIRON = m.Attribute(value=m.Name("os"), attr=m.Name("environ")) | m.Name("environ")
_ENVIRON_ASSIGNMENT = m.SimpleStatementLine([m.Assign([m.AssignTarget(m.Subscript(value=_ENVIRON))])])


def edit(data: bytes, parameters: Parameters) -> bytes:
    """After `os.environ["CUDA_LAUNCH_BLOCKING"] = "1"`, sets HIP's variable to the same value under `if is_rocm:`."""
    (old,), (new,) = list_parameter(parameters, "old"), list_parameter(parameters, "new")
    return (
        run_guarded_edit(data, _LaunchBlockingEdit(old, new))
        if old.encode() in data and new.encode() not in data
        else data
    )


class _LaunchBlockingEdit(GuardedEdit):
    def __init__(self, old: str, new: str) -> None:
        super().__init__()
        self.old, self.new = old, new

    def leave_SimpleStatementLine(  # noqa: N802
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        if not m.matches(original_node, _ENVIRON_ASSIGNMENT) or self.is_guarded(original_node):
            return updated_node
        keys = [
            element
            for element in m.findall(original_node, m.SubscriptElement(m.Index(m.SimpleString())))
            if self._is_old_key(element)
        ]
        if len(keys) != 1:
            return updated_node
        self.record_edit(original_node)
        index = cst.SubscriptElement(cst.Index(cst.SimpleString(f'"{self.new}"')))
        plain = original_node.with_changes(leading_lines=[], trailing_whitespace=_LINE_END)
        hip_assignment = plain.deep_replace(keys[0], index)
        assert isinstance(hip_assignment, cst.SimpleStatementLine)
        return cst.FlattenSentinel([updated_node, cst.If(cst.Name(ROCM_FLAG), cst.IndentedBlock([hip_assignment]))])

    def _is_old_key(self, element: cst.CSTNode) -> bool:
        index = element.slice if isinstance(element, cst.SubscriptElement) else None
        return isinstance(index, cst.Index) and string_value(index.value) == self.old


_LINE_END = cst.TrailingWhitespace()
