"""Turns options of torch's compiler that were chosen for NVIDIA off on ROCm. Parameters: options (dotted names)."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG

_TRUE = m.Name("True")
_COMPILE = m.Call(func=m.Attribute(attr=m.Name("compile")))


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`config.max_autotune = True` becomes `not is_rocm`, which is still True elsewhere."""
    options = list_parameter(parameters, "options")
    if not any(option.encode() in data for option in options):
        return data
    return run_guarded_edit(data, _InductorOptionsEdit(options))


class _InductorOptionsEdit(GuardedEdit):
    def __init__(self, options: tuple[str, ...]) -> None:
        super().__init__()
        self.options = options
        self.config_names: set[str] = {"torch._inductor.config"}

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:  # noqa: N802
        """Collects the names under which the module knows inductor's configuration."""
        import_node = self.parent_of(node)
        source = f"{_dotted_name(import_node.module)}." if isinstance(import_node, cst.ImportFrom) else ""
        config_suffixes = {"torch._inductor": ".config", "torch._inductor.config": ""}
        suffix = config_suffixes.get(f"{source}{node.evaluated_name}")
        if suffix is not None and (source or node.evaluated_alias):
            self.config_names.add(f"{node.evaluated_alias or node.evaluated_name}{suffix}")

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:  # noqa: N802
        target = _dotted_name(original_node.targets[0].target)
        names = (target.removeprefix(f"{config}.") for config in self.config_names if target.startswith(f"{config}."))
        if not any(name in self.options for name in names) or not self._is_unguarded_true(original_node.value):
            return updated_node
        return updated_node.with_changes(value=self._not_rocm(original_node))

    def leave_DictElement(  # noqa: N802
        self, original_node: cst.DictElement, updated_node: cst.DictElement
    ) -> cst.DictElement:
        if string_value(original_node.key) not in self.options or not self._is_unguarded_true(original_node.value):
            return updated_node
        table = self.parent_of(original_node)
        argument = self.parent_of(table) if table else None
        call = self.parent_of(argument) if argument else None
        if not isinstance(argument, cst.Arg) or not isinstance(call, cst.Call) or not m.matches(call, _COMPILE):
            return updated_node
        if argument.keyword is None or argument.keyword.value != "options":
            return updated_node
        return updated_node.with_changes(value=self._not_rocm(original_node))

    def _is_unguarded_true(self, value: cst.BaseExpression) -> bool:
        return m.matches(value, _TRUE) and not self.is_guarded(value)

    def _not_rocm(self, node: cst.CSTNode) -> cst.BaseExpression:
        self.record_edit(node)
        return cst.UnaryOperation(cst.Not(), cst.Name(ROCM_FLAG))


def _dotted_name(node: cst.CSTNode | None) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted_name(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""
