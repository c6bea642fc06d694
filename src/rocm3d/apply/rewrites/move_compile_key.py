"""Moves flags from a key that torch ignores to the ROCm list of the key that it reads. Parameters: ignored, read."""

from __future__ import annotations

import re

import libcst as cst

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rocm_flag import GuardedEdit, keyword_name, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_COMPILE_ARGS = re.compile(r"\w*compile_args$")
_HOST_KEY = "cxx"


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`{"nvcc": a, "hipcc": b}` becomes `{"nvcc": b if is_rocm else a, "hipcc": b}`; torch never reads the last key."""
    return run_guarded_edit(data, _CompileKeyEdit(parameters)) if b"cpp_extension" in data else data


class _CompileKeyEdit(GuardedEdit):
    def leave_Dict(self, original_node: cst.Dict, updated_node: cst.Dict) -> cst.Dict:  # noqa: N802
        keys = [
            string_value(element.key) if isinstance(element, cst.DictElement) else None
            for element in original_node.elements
        ]
        ignored_indexes = [index for index, key in enumerate(keys) if key in self.values("ignored")]
        if (
            not ignored_indexes
            or not (_HOST_KEY in keys or self._is_compile_args(original_node))
            or self.is_guarded(original_node)
        ):
            return updated_node
        read = str(self.parameters["read"])
        if len(ignored_indexes) > 1 or read not in keys:
            raise RewriteRefusedError(f"the key {read} is missing, or more than one key is ignored")
        read_index = keys.index(read)
        old, flags = original_node.elements[read_index].value, original_node.elements[ignored_indexes[0]].value
        if isinstance(old, cst.IfExp):
            return updated_node
        if not isinstance(flags, (cst.List, cst.Name)):
            raise RewriteRefusedError("the ignored flags are neither a list nor a variable")
        elements = list(updated_node.elements)
        elements[read_index] = elements[read_index].with_changes(
            value=self.choose(flags, elements[read_index].value, old)
        )
        return updated_node.with_changes(elements=elements)

    def _is_compile_args(self, node: cst.CSTNode) -> bool:
        parent = self.parent_of(node)
        if isinstance(parent, cst.Arg):
            return _COMPILE_ARGS.match(keyword_name(parent)) is not None
        target = parent.targets[0].target if isinstance(parent, cst.Assign) else None
        return isinstance(target, cst.Name) and bool(_COMPILE_ARGS.match(target.value))
