"""Chooses the names in a list by backend: libraries to link, execution providers.

Parameters: arguments (keywords whose list is edited), cuda, rocm (same length; an empty name drops the element), and
link (prefix of a library in linker flags, such as -l: lists of such flags are edited, too).
"""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rewrite import list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, keyword_name, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`libraries=["cusparse"]` becomes `libraries=["hipsparse"] if is_rocm else ["cusparse"]`."""
    names = dict(zip(list_parameter(parameters, "cuda"), list_parameter(parameters, "rocm"), strict=True))
    return run_guarded_edit(data, _ElementsEdit(parameters, names))


class _ElementsEdit(GuardedEdit):
    def __init__(self, parameters: Parameters, names: dict[str, str]) -> None:
        super().__init__(parameters)
        self.names, self.link = names, (link := str(parameters.get("link", "")))
        self.linked_names = {f"{link}{cuda}": rocm and f"{link}{rocm}" for cuda, rocm in names.items()} if link else {}

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802
        value = original_node.value
        is_edited_keyword = keyword_name(original_node) in self.values("arguments")
        if not is_edited_keyword or not isinstance(value, (cst.List, cst.Tuple)):
            return updated_node
        texts = [string_value(element.value) for element in value.elements]
        if not any(text in self.names for text in texts) or self.is_guarded(original_node):
            return updated_node
        return updated_node.with_changes(value=self.choose(_rocm_list(value, texts, self.names), value, value))

    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.BaseExpression:  # noqa: N802
        """`["-lcusparse"]`, and `["-l", "cusparse"]`, which becomes one element."""
        joined = self._with_joined_flags(original_node)
        texts = [string_value(element.value) for element in joined.elements]
        if not any(text in self.linked_names for text in texts) or self.is_guarded(original_node):
            return updated_node
        return self.choose(_rocm_list(joined, texts, self.linked_names), updated_node, original_node)

    def _with_joined_flags(self, value: cst.List) -> cst.List:
        elements: list[cst.BaseElement] = []
        for element in value.elements:
            text = string_value(element.value)
            if elements and self.link and text in self.names and string_value(elements[-1].value) == self.link:
                elements[-1] = cst.Element(cst.SimpleString(f'"{self.link}{text}"'))
            else:
                elements.append(element)
        return value.with_changes(elements=elements)


def _rocm_list(value: cst.List | cst.Tuple, texts: list[str | None], names: dict[str, str]) -> cst.BaseExpression:
    """Replaces known names, each once, in order of first occurrence; other elements stay."""
    elements: list[cst.BaseElement] = []
    used_names: set[str] = set()
    for element, text in zip(value.elements, texts, strict=True):
        rocm_name = names.get(text or "")
        if rocm_name is None:
            elements.append(element.with_changes(comma=cst.MaybeSentinel.DEFAULT))
        elif rocm_name and rocm_name not in used_names:
            used_names.add(rocm_name)
            elements.append(cst.Element(cst.SimpleString(f'"{rocm_name}"')))
    return cst.List(elements)
