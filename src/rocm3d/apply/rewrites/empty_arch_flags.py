"""Empties lists of NVIDIA architecture flags on ROCm, where torch chooses the target. Parameters: prefixes."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`[f"-gencode=..." for a in archs]` becomes `[] if is_rocm else [...]` where torch extensions are built."""
    return (
        run_guarded_edit(data, _ArchFlagsEdit(list_parameter(parameters, "prefixes")))
        if b"cpp_extension" in data
        else data
    )


class _ArchFlagsEdit(GuardedEdit):
    def __init__(self, prefixes: tuple[str, ...]) -> None:
        super().__init__()
        self.prefixes = prefixes

    def leave_ListComp(self, original_node: cst.ListComp, updated_node: cst.ListComp) -> cst.BaseExpression:  # noqa: N802
        if not self._has_prefix(original_node.elt) or self.is_guarded(original_node):
            return updated_node
        return backend_expression(cst.List([]), updated_node, self, original_node)

    def _has_prefix(self, element: cst.BaseExpression) -> bool:
        if m.matches(element, m.FormattedString()):
            assert isinstance(element, cst.FormattedString)
            first = element.parts[0] if element.parts else None
            return isinstance(first, cst.FormattedStringText) and first.value.startswith(self.prefixes)
        value = element.evaluated_value if isinstance(element, cst.SimpleString) else None
        return isinstance(value, str) and value.startswith(self.prefixes)
