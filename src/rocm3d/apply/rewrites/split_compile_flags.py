"""Chooses compiler flags by backend: CUDA keeps its lists, ROCm gets them without nvcc-only flags.

An nvcc-only flag that is appended alone, as a literal or an f-string, is appended on CUDA only.

Parameters: nvcc_only (prefixes), takes_value (flags whose value is the next element).
"""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG

_APPEND = m.Call(func=m.Attribute(attr=m.Name("append")), args=[m.Arg(keyword=None, star="")])


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`[a, --nvcc-only]` becomes `[a] if is_rocm else [a, --nvcc-only]` in a module that builds torch extensions."""
    if b"cpp_extension" not in data:
        return data
    return run_guarded_edit(
        data, _CompileFlagsEdit(list_parameter(parameters, "nvcc_only"), list_parameter(parameters, "takes_value"))
    )


class _CompileFlagsEdit(GuardedEdit):
    def __init__(self, nvcc_only: tuple[str, ...], takes_value: tuple[str, ...]) -> None:
        super().__init__()
        self.nvcc_only, self.takes_value = nvcc_only, takes_value

    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.BaseExpression:  # noqa: N802
        rocm_elements = self._rocm_elements(original_node)
        if len(rocm_elements) == len(original_node.elements):
            return updated_node
        parent = self.parent_of(original_node)
        if isinstance(parent, cst.IfExp) and parent.body is original_node and m.matches(parent.test, m.Name(ROCM_FLAG)):
            self.record_edit(original_node)  # another edit chose this list for ROCm and left these flags in
            return cst.List([_bare_element(element) for element in rocm_elements])
        if self.is_guarded(original_node):
            return updated_node
        self.record_edit(original_node)
        left, right = self.parentheses(
            original_node, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Arg, cst.DictElement, cst.Return
        )
        return cst.IfExp(
            body=cst.List([_bare_element(element) for element in rocm_elements]),
            test=cst.Name(ROCM_FLAG),
            orelse=updated_node,
            lpar=left,
            rpar=right,
        )

    def leave_SimpleStatementLine(  # noqa: N802
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.If:
        if not self._is_nvcc_append(original_node) or self.is_guarded(original_node):
            return updated_node
        self.record_edit(original_node)
        return cst.If(
            test=cst.UnaryOperation(cst.Not(), cst.Name(ROCM_FLAG)),
            body=cst.IndentedBlock([updated_node.with_changes(leading_lines=[])]),
            leading_lines=updated_node.leading_lines,
        )

    def _is_nvcc_append(self, node: cst.SimpleStatementLine) -> bool:
        """Whether the line is `flags.append("--nvcc-only")` and no more; a flag whose value follows does not count."""
        if not m.matches(node, m.SimpleStatementLine(body=[m.Expr(_APPEND)])):
            return False
        value = m.findall(node, _APPEND)[0].args[0].value  # type: ignore[attr-defined]
        return self._is_nvcc_only(value) and _leading_text(value) not in self.takes_value

    def _is_nvcc_only(self, value: cst.BaseExpression) -> bool:
        """For `f"-arch={arch}"` the part before the value is enough: no clang flag begins with it."""
        text = _leading_text(value) or ""
        is_open_flag = isinstance(value, cst.FormattedString) and text.endswith("=")
        return text.startswith(self.nvcc_only) or (
            is_open_flag and any(flag.startswith(text) for flag in self.nvcc_only)
        )

    def _rocm_elements(self, node: cst.List) -> list[cst.BaseElement]:
        rocm_elements: list[cst.BaseElement] = []
        is_value_of_dropped = False
        for element in node.elements:
            if is_value_of_dropped:
                is_value_of_dropped = False
            elif self._is_nvcc_only(element.value):
                is_value_of_dropped = _leading_text(element.value) in self.takes_value
            else:
                rocm_elements.append(element)
        return rocm_elements


def _bare_element(element: cst.BaseElement) -> cst.BaseElement:
    """The element without its comma and comments; a star stays."""
    return cst.StarredElement(element.value) if isinstance(element, cst.StarredElement) else cst.Element(element.value)


def _leading_text(node: cst.BaseExpression) -> str | None:
    """The text of a literal, or of an f-string before its first value."""
    if isinstance(node, cst.FormattedString):
        first = node.parts[0] if node.parts else None
        return first.value if isinstance(first, cst.FormattedStringText) else None
    return string_value(node)
