"""Rasterizes without OpenGL on ROCm. Parameters: old, new (context classes), keeps (arguments that both accept)."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`dr.RasterizeGLContext()` becomes `dr.RasterizeCudaContext() if is_rocm else dr.RasterizeGLContext()`."""
    (old,), (new,) = list_parameter(parameters, "old"), list_parameter(parameters, "new")
    return (
        run_guarded_edit(data, _RasterContextEdit(old, new, list_parameter(parameters, "keeps")))
        if old.encode() in data
        else data
    )


class _RasterContextEdit(GuardedEdit):
    def __init__(self, old: str, new: str, common_arguments: tuple[str, ...]) -> None:
        super().__init__()
        self.old, self.new, self.common_arguments = old, new, common_arguments

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        function = original_node.func
        is_old_context = m.matches(function, m.Name(self.old) | m.Attribute(attr=m.Name(self.old)))
        if not is_old_context or self.is_guarded(original_node) or self._is_chosen_by_program(original_node):
            return updated_node
        if not isinstance(function, cst.Attribute):
            raise RewriteRefusedError(f"{self.new} is not imported in this file")
        if any(
            argument.keyword is None or argument.keyword.value not in self.common_arguments
            for argument in original_node.args
        ):
            raise RewriteRefusedError(f"{self.old} is called with arguments that {self.new} does not accept")
        rocm_call = updated_node.with_changes(func=function.with_changes(attr=cst.Name(self.new)))
        return backend_expression(rocm_call, updated_node, self, original_node)

    def _is_chosen_by_program(self, node: cst.CSTNode) -> bool:
        """Whether the program itself chooses between the two contexts."""
        ancestor = self.parent_of(node)
        while ancestor is not None:
            if isinstance(ancestor, (cst.If, cst.IfExp)) and m.findall(ancestor, m.Name(self.new)):
                return True
            ancestor = self.parent_of(ancestor)
        return False
