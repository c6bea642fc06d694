"""Rasterizes without OpenGL on ROCm. Parameters: old, new (context classes), keeps (arguments that both accept)."""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rocm_flag import GuardedEdit, keyword_name, last_name, mentions, run_guarded_edit
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`dr.RasterizeGLContext()` becomes `dr.RasterizeCudaContext() if is_rocm else dr.RasterizeGLContext()`."""
    return run_guarded_edit(data, _RasterContextEdit(parameters)) if str(parameters["old"]).encode() in data else data


class _RasterContextEdit(GuardedEdit):
    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        function, old, new = original_node.func, str(self.parameters["old"]), str(self.parameters["new"])
        if last_name(function) != old or self.is_guarded(original_node) or self._chooses(original_node, new):
            return updated_node
        if not isinstance(function, cst.Attribute):
            raise RewriteRefusedError(f"{new} is not imported in this file")
        if any(keyword_name(argument) not in self.values("keeps") for argument in original_node.args):
            raise RewriteRefusedError(f"{old} is called with arguments that {new} does not accept")
        rocm_call = updated_node.with_changes(func=function.with_changes(attr=cst.Name(new)))
        return self.choose(rocm_call, updated_node, original_node)

    def _chooses(self, node: cst.CSTNode, new: str) -> bool:
        """Whether the program itself chooses between the two contexts."""
        return any(
            isinstance(ancestor, (cst.If, cst.IfExp)) and mentions(ancestor, new)
            for ancestor, _ in self.ancestors(node)
        )
