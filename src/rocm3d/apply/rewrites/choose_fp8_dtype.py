"""Uses the fnuz variant of an 8-bit float type on the AMD targets that compute with it.

Parameters: fnuz_on (gfx names), types (names in torch). The device is queried inside functions only, so that an import
does not initialise the GPU.
"""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, dotted_name, run_guarded_edit
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG

_TABLES = (cst.Comparison, cst.List, cst.Tuple, cst.Set, cst.Dict, cst.Subscript)


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`torch.float8_e4m3fn` in a function becomes a choice; tables and comparisons cover every variant and stay."""
    return run_guarded_edit(data, _Fp8TypeEdit(parameters)) if b"float8" in data else data


class _Fp8TypeEdit(GuardedEdit):
    def leave_Attribute(  # noqa: N802
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        name = original_node.attr.value
        if name not in self.values("types") or dotted_name(original_node.value) != "torch":
            return updated_node
        if self.is_guarded(original_node) or self._is_in_table(original_node):
            return updated_node
        if not self._is_in_function_body(original_node):
            self.refusal = "the type is chosen at import time, when the device must not be queried"
            return updated_node
        fnuz = updated_node.with_changes(attr=cst.Name(f"{name}uz" if name.endswith("fn") else f"{name}fnuz"))
        targets = ", ".join(f'"{target}"' for target in self.values("fnuz_on"))
        targets += "," if len(self.values("fnuz_on")) == 1 else ""
        device = "torch.cuda.get_device_properties(torch.cuda.current_device())"
        test = f'{ROCM_FLAG} and {device}.gcnArchName.split(":")[0] in ({targets})'
        return self.choose(fnuz, updated_node, original_node).with_changes(test=cst.parse_expression(test))

    def _is_in_table(self, node: cst.CSTNode) -> bool:
        for ancestor, _ in self.ancestors(node):
            if isinstance(ancestor, (*_TABLES, cst.BaseSmallStatement, cst.BaseStatement, cst.Call)):
                return isinstance(ancestor, _TABLES)
        return False

    def _is_in_function_body(self, node: cst.CSTNode) -> bool:
        """Whether the node is in the body of a function or lambda; defaults and decorators run at import time."""
        return any(
            isinstance(ancestor, (cst.FunctionDef, cst.Lambda)) and child is ancestor.body
            for ancestor, child in self.ancestors(node)
        )
