"""Turns options of torch's compiler that were chosen for NVIDIA off on ROCm. Parameters: options (dotted names)."""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, dotted_name, keyword_name, last_name, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`config.max_autotune = True` becomes `not is_rocm`, which is still True elsewhere."""
    has_option = any(option.encode() in data for option in list_parameter(parameters, "options"))
    return run_guarded_edit(data, _InductorOptionsEdit(parameters)) if has_option else data


class _InductorOptionsEdit(GuardedEdit):
    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        self.config_names: set[str] = {"torch._inductor.config"}

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:  # noqa: N802
        """Collects the names under which the module knows inductor's configuration."""
        import_node = self.parent_of(node)
        source = f"{dotted_name(import_node.module)}." if isinstance(import_node, cst.ImportFrom) else ""
        config_suffixes = {"torch._inductor": ".config", "torch._inductor.config": ""}
        suffix = config_suffixes.get(f"{source}{node.evaluated_name}")
        if suffix is not None and (source or node.evaluated_alias):
            self.config_names.add(f"{node.evaluated_alias or node.evaluated_name}{suffix}")

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:  # noqa: N802
        target = dotted_name(original_node.targets[0].target)
        names = (target.removeprefix(f"{config}.") for config in self.config_names if target.startswith(f"{config}."))
        is_option = any(name in self.values("options") for name in names)
        if not is_option or not self._is_unguarded_true(original_node.value):
            return updated_node
        return updated_node.with_changes(value=self.not_rocm(original_node))

    def leave_DictElement(  # noqa: N802
        self, original_node: cst.DictElement, updated_node: cst.DictElement
    ) -> cst.DictElement:
        is_option = string_value(original_node.key) in self.values("options")
        if not is_option or not self._is_unguarded_true(original_node.value) or not self._is_compiled(original_node):
            return updated_node
        return updated_node.with_changes(value=self.not_rocm(original_node))

    def _is_unguarded_true(self, value: cst.BaseExpression) -> bool:
        return dotted_name(value) == "True" and not self.is_guarded(value)

    def _is_compiled(self, element: cst.DictElement) -> bool:
        """Whether the table is the argument `options` of `x.compile(...)`."""
        match [ancestor for ancestor, _ in self.ancestors(element)]:
            case [_, cst.Arg() as argument, cst.Call(func=cst.Attribute() as function), *_]:
                return keyword_name(argument) == "options" and last_name(function) == "compile"
        return False
