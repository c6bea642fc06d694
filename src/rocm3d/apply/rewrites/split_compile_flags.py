"""Chooses compiler flags by backend: lists with nvcc-only flags stay for CUDA, ROCm gets them without.

Parameters: nvcc_only (prefixes), takes_value (flags whose value is the next element).
"""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.rewrite import Rewrite, words
from rocm3d.apply.rocm_flag import GuardedEdit, edited
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import FLAG


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`[a, --nvcc-only]` becomes `[a] if is_rocm else [a, --nvcc-only]` in a module that builds torch extensions."""
    if b"cpp_extension" not in data:
        return data
    return edited(data, _Split(words(parameters, "nvcc_only"), words(parameters, "takes_value")))


class _Split(GuardedEdit):
    def __init__(self, nvcc_only: tuple[str, ...], takes_value: tuple[str, ...]) -> None:
        super().__init__()
        self.nvcc_only, self.takes_value = nvcc_only, takes_value

    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.BaseExpression:  # noqa: N802
        kept = self._for_rocm(original_node)
        if len(kept) == len(original_node.elements):
            return updated_node
        around = self.parent(original_node)
        if isinstance(around, cst.IfExp) and around.body is original_node and m.matches(around.test, m.Name(FLAG)):
            self.note(original_node)  # chosen for ROCm by another edit, which knew nothing of these flags
            return cst.List([_plain(element) for element in kept])
        if self.is_guarded(original_node):
            return updated_node
        self.note(original_node)
        left, right = self.parentheses(
            original_node, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Arg, cst.DictElement, cst.Return
        )
        return cst.IfExp(
            body=cst.List([_plain(element) for element in kept]),
            test=cst.Name(FLAG),
            orelse=updated_node,
            lpar=left,
            rpar=right,
        )

    def _for_rocm(self, node: cst.List) -> list[cst.BaseElement]:
        kept: list[cst.BaseElement] = []
        value_of_dropped = False
        for element in node.elements:
            text = _text(element.value)
            if value_of_dropped:
                value_of_dropped = False
            elif text is not None and text.startswith(self.nvcc_only):
                value_of_dropped = text in self.takes_value
            else:
                kept.append(element)
        return kept


def _plain(element: cst.BaseElement) -> cst.BaseElement:
    """Without the comma and comments of its old place; a star stays."""
    return cst.StarredElement(element.value) if isinstance(element, cst.StarredElement) else cst.Element(element.value)


def _text(node: cst.BaseExpression) -> str | None:
    value = node.evaluated_value if isinstance(node, cst.SimpleString) else None
    return value if isinstance(value, str) else None


rewrite = Rewrite(__name__, edit)
