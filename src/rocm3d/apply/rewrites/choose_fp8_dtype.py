"""Uses the fnuz variant of an 8-bit float type on the AMD targets that compute with it.

Parameters: fnuz_on (gfx names), types (names in torch). The device is queried inside functions only, so that an import
does not initialise the GPU.
"""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG

_TABLES = (cst.Comparison, cst.List, cst.Tuple, cst.Set, cst.Dict, cst.Subscript)


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`torch.float8_e4m3fn` in a function becomes a choice; tables and comparisons cover every variant and stay."""
    if b"float8" not in data:
        return data
    fp8_edit = _Fp8TypeEdit(list_parameter(parameters, "types"), list_parameter(parameters, "fnuz_on"))
    after = run_guarded_edit(data, fp8_edit)
    if after == data and fp8_edit.skipped:
        raise RewriteRefusedError("the type is chosen at import time, when the device must not be queried")
    return after


class _Fp8TypeEdit(GuardedEdit):
    def __init__(self, types: tuple[str, ...], targets: tuple[str, ...]) -> None:
        super().__init__()
        self.types, self.skipped = types, 0
        names = "".join(f'"{name}", ' for name in targets)
        device = "torch.cuda.get_device_properties(torch.cuda.current_device())"
        self.target_check = f'{device}.gcnArchName.split(":")[0] in ({names.rstrip(", " if len(targets) > 1 else " ")})'

    def leave_Attribute(  # noqa: N802
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        name = original_node.attr.value
        if name not in self.types or not m.matches(original_node.value, m.Name("torch")):
            return updated_node
        if self.is_guarded(original_node) or self._is_in_table(original_node):
            return updated_node
        if not self._is_in_function_body(original_node):
            self.skipped += 1
            return updated_node
        choice = backend_expression(
            updated_node.with_changes(attr=cst.Name(f"{name}uz" if name.endswith("fn") else f"{name}fnuz")),
            updated_node,
            self,
            original_node,
        )
        return choice.with_changes(test=cst.parse_expression(f"{ROCM_FLAG} and {self.target_check}"))

    def _is_in_table(self, node: cst.CSTNode) -> bool:
        ancestor = self.parent_of(node)
        while ancestor is not None and not isinstance(ancestor, (cst.BaseSmallStatement, cst.BaseStatement, cst.Call)):
            if isinstance(ancestor, _TABLES):
                return True
            ancestor = self.parent_of(ancestor)
        return False

    def _is_in_function_body(self, node: cst.CSTNode) -> bool:
        """Whether the node is in the body of a function or lambda; defaults and decorators run at import time."""
        inner, ancestor = node, self.parent_of(node)
        while ancestor is not None:
            if isinstance(ancestor, (cst.FunctionDef, cst.Lambda)) and inner is ancestor.body:
                return True
            inner, ancestor = ancestor, self.parent_of(ancestor)
        return False
