"""Chooses compiler flags by backend: CUDA keeps its lists, ROCm gets them without nvcc-only flags.

An nvcc-only flag that is appended alone, as a literal or an f-string, is appended on CUDA only.

Parameters: nvcc_only (prefixes), takes_value (flags whose value is the next element).
"""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rocm_flag import GuardedEdit, leading_text, run_guarded_edit
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`[a, --nvcc-only]` becomes `[a] if is_rocm else [a, --nvcc-only]` in a module that builds torch extensions."""
    return run_guarded_edit(data, _CompileFlagsEdit(parameters)) if b"cpp_extension" in data else data


class _CompileFlagsEdit(GuardedEdit):
    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.BaseExpression:  # noqa: N802
        rocm_elements = self._rocm_elements(original_node)
        if len(rocm_elements) == len(original_node.elements):
            return updated_node
        rocm_list = cst.List([_bare_element(element) for element in rocm_elements])
        if self.is_chosen_for_rocm(original_node):
            self.record_edit(original_node)  # the other edit left these flags in
            return rocm_list
        return updated_node if self.is_guarded(original_node) else self.choose(rocm_list, updated_node, original_node)

    def leave_SimpleStatementLine(  # noqa: N802
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.If:
        if not self._is_nvcc_append(original_node) or self.is_guarded(original_node):
            return updated_node
        return self.skip_on_rocm(original_node, updated_node)

    def _is_nvcc_append(self, node: cst.SimpleStatementLine) -> bool:
        """Whether the line is `flags.append("--nvcc-only")` and no more; a flag whose value follows does not count."""
        match node.body:
            case [
                cst.Expr(
                    value=cst.Call(
                        func=cst.Attribute(attr=cst.Name(value="append")),
                        args=[cst.Arg(value=value, keyword=None, star="")],
                    )
                )
            ]:
                return self._is_nvcc_only(value) and leading_text(value) not in self.values("takes_value")
        return False

    def _is_nvcc_only(self, value: cst.BaseExpression) -> bool:
        """For `f"-arch={arch}"` the part before the value is enough: no clang flag begins with it."""
        text, nvcc_only = leading_text(value), self.values("nvcc_only")
        is_open_flag = isinstance(value, cst.FormattedString) and text.endswith("=")
        return text.startswith(nvcc_only) or (is_open_flag and any(flag.startswith(text) for flag in nvcc_only))

    def _rocm_elements(self, node: cst.List) -> list[cst.BaseElement]:
        rocm_elements: list[cst.BaseElement] = []
        is_value_of_dropped = False
        for element in node.elements:
            if is_value_of_dropped:
                is_value_of_dropped = False
            elif self._is_nvcc_only(element.value):
                is_value_of_dropped = leading_text(element.value) in self.values("takes_value")
            else:
                rocm_elements.append(element)
        return rocm_elements


def _bare_element(element: cst.BaseElement) -> cst.BaseElement:
    """The element without its comma and comments; a star stays."""
    return cst.StarredElement(element.value) if isinstance(element, cst.StarredElement) else cst.Element(element.value)
