"""Turns a TF32 flag that is passed to a Triton kernel off on ROCm. Parameters: keywords."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, run_guarded_edit
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`kernel[grid](..., ALLOW_TF32=True)` becomes `ALLOW_TF32=not is_rocm`, still True elsewhere."""
    return run_guarded_edit(data, _Tf32FlagEdit(list_parameter(parameters, "keywords")))


class _Tf32FlagEdit(GuardedEdit):
    def __init__(self, keywords: tuple[str, ...]) -> None:
        super().__init__()
        self.keywords = keywords

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802
        # A launch calls the kernel subscripted with its grid.
        if not isinstance(original_node.func, cst.Subscript) or self.is_guarded(original_node):
            return updated_node
        arguments = [self._argument(arg) for arg in updated_node.args]
        if all(new is old for new, old in zip(arguments, updated_node.args, strict=True)):
            return updated_node
        self.record_edit(original_node)
        return updated_node.with_changes(args=arguments)

    def _argument(self, argument: cst.Arg) -> cst.Arg:
        keyword = argument.keyword.value if argument.keyword else ""
        if keyword not in self.keywords or not m.matches(argument.value, m.Name("True")):
            return argument
        return argument.with_changes(value=cst.UnaryOperation(cst.Not(), cst.Name(ROCM_FLAG)))
