"""Rasterizes without OpenGL on ROCm. Parameters: old, new (context classes), keeps (arguments that both accept)."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`dr.RasterizeGLContext()` becomes `dr.RasterizeCudaContext() if is_rocm else dr.RasterizeGLContext()`."""
    (old,), (new,) = list_parameter(parameters, "old"), list_parameter(parameters, "new")
    return run_guarded_edit(data, _Choose(old, new, list_parameter(parameters, "keeps"))) if old.encode() in data else data


class _Choose(GuardedEdit):
    def __init__(self, old: str, new: str, keeps: tuple[str, ...]) -> None:
        super().__init__()
        self.old, self.new, self.keeps = old, new, keeps

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        function = original_node.func
        named = m.matches(function, m.Name(self.old) | m.Attribute(attr=m.Name(self.old)))
        if not named or self.is_guarded(original_node) or self._is_asked_for_both(original_node):
            return updated_node
        if not isinstance(function, cst.Attribute):
            raise RewriteRefusedError(f"{self.new} is not imported in this file")
        if any(argument.keyword is None or argument.keyword.value not in self.keeps for argument in original_node.args):
            raise RewriteRefusedError(f"{self.old} is called with arguments that {self.new} does not accept")
        rocm = updated_node.with_changes(func=function.with_changes(attr=cst.Name(self.new)))
        return backend_expression(rocm, updated_node, self, original_node)

    def _is_asked_for_both(self, node: cst.CSTNode) -> bool:
        """Whether the program itself chooses between the two contexts."""
        around = self.parent_of(node)
        while around is not None:
            if isinstance(around, (cst.If, cst.IfExp)) and m.findall(around, m.Name(self.new)):
                return True
            around = self.parent_of(around)
        return False


rewrite = Rewrite(__name__, edit)
