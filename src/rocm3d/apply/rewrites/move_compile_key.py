"""Moves flags from a key that torch ignores to the ROCm list of the key that it reads. Parameters: ignored, read."""

from __future__ import annotations

import re

import libcst as cst

from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_NAME = re.compile(r"\w*compile_args$")
_HOST_KEY = "cxx"


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`{"nvcc": a, "hipcc": b}` becomes `{"nvcc": b if is_rocm else a, "hipcc": b}`; torch never reads the last key."""
    (read,) = list_parameter(parameters, "read")
    return run_guarded_edit(data, _Move(list_parameter(parameters, "ignored"), read)) if b"cpp_extension" in data else data


class _Move(GuardedEdit):
    def __init__(self, ignored: tuple[str, ...], read: str) -> None:
        super().__init__()
        self.ignored, self.read = ignored, read

    def leave_Dict(self, original_node: cst.Dict, updated_node: cst.Dict) -> cst.Dict:  # noqa: N802
        keys = [string_value(item.key) if isinstance(item, cst.DictElement) else None for item in original_node.elements]
        lost = [index for index, key in enumerate(keys) if key in self.ignored]
        if not lost or not (_HOST_KEY in keys or self._is_named(original_node)) or self.is_guarded(original_node):
            return updated_node
        if len(lost) > 1 or self.read not in keys:
            raise RewriteRefusedError(f"the key {self.read} is missing, or more than one key is ignored")
        place = keys.index(self.read)
        old, flags = original_node.elements[place].value, original_node.elements[lost[0]].value
        if isinstance(old, cst.IfExp):
            return updated_node
        if not isinstance(flags, (cst.List, cst.Name)):
            raise RewriteRefusedError("the ignored flags are neither a list nor a variable")
        elements = list(updated_node.elements)
        elements[place] = elements[place].with_changes(value=backend_expression(flags, elements[place].value, self, old))
        return updated_node.with_changes(elements=elements)

    def _is_named(self, node: cst.CSTNode) -> bool:
        around = self.parent_of(node)
        if isinstance(around, cst.Arg):
            return bool(around.keyword and _NAME.match(around.keyword.value))
        target = around.targets[0].target if isinstance(around, cst.Assign) else None
        return isinstance(target, cst.Name) and bool(_NAME.match(target.value))


rewrite = Rewrite(__name__, edit)
