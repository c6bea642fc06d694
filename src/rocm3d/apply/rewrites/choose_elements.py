"""Chooses the names in a list by backend: libraries to link, execution providers.

Parameters: arguments (keywords whose list is meant), cuda, rocm (same length; an empty name drops the element).
"""

from __future__ import annotations

import libcst as cst

from rocm3d.apply.rewrite import Rewrite, words
from rocm3d.apply.rocm_flag import GuardedEdit, chosen, edited, text_of
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """`libraries=["cusparse"]` becomes `libraries=["hipsparse"] if is_rocm else ["cusparse"]`."""
    names = dict(zip(words(parameters, "cuda"), words(parameters, "rocm"), strict=True))
    return edited(data, _Choose(words(parameters, "arguments"), names))


class _Choose(GuardedEdit):
    def __init__(self, arguments: tuple[str, ...], names: dict[str, str]) -> None:
        super().__init__()
        self.arguments, self.names = arguments, names

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802
        keyword, value = original_node.keyword, original_node.value
        if keyword is None or keyword.value not in self.arguments or not isinstance(value, (cst.List, cst.Tuple)):
            return updated_node
        texts = [text_of(element.value) for element in value.elements]
        if not any(text in self.names for text in texts) or self.is_guarded(original_node):
            return updated_node
        return updated_node.with_changes(value=chosen(self._for_rocm(value, texts), value, self, value))

    def _for_rocm(self, value: cst.List | cst.Tuple, texts: list[str | None]) -> cst.BaseExpression:
        """Each name once, in the order of the first that stands for it; what is no known name stays."""
        kept: list[cst.BaseElement] = []
        seen: set[str] = set()
        for element, text in zip(value.elements, texts, strict=True):
            instead = self.names.get(text or "", None)
            if instead is None:
                kept.append(element.with_changes(comma=cst.MaybeSentinel.DEFAULT))
            elif instead and instead not in seen:
                seen.add(instead)
                kept.append(cst.Element(cst.SimpleString(f'"{instead}"')))
        return cst.List(kept)


rewrite = Rewrite(__name__, edit)
