"""Functions that a source registers as torch operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from rocm3d.syntax.cuda import CudaUnit

# `torch::RegisterOperators().op("name", &function)`
_METHOD = ".op"


def registered_noexcept_functions(unit: CudaUnit) -> Iterator[Node]:
    """`&function` nodes in registrations of functions that the file declares noexcept and without parameters."""
    noexcept_names = {_declared_function(unit, node) for node in unit.nodes("noexcept")} - {""}
    if not noexcept_names:
        return
    for call in unit.nodes("call_expression"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None or not unit.slice(function).endswith(_METHOD):
            continue
        for node in arguments.named_children:
            if node.type != "pointer_expression" or not unit.is_shared(node.start_byte):
                continue
            name = unit.slice(node).removeprefix("&").strip()
            if name.rpartition("::")[2] in noexcept_names:
                yield node


def _declared_function(unit: CudaUnit, node: Node) -> str:
    """The name of the function declared with this noexcept, if it has no parameters; else empty."""
    function = node.parent
    if function is None or function.type != "function_declarator":
        return ""
    name, parameters = function.child_by_field_name("declarator"), function.child_by_field_name("parameters")
    if name is None or parameters is None or unit.slice(parameters).replace("void", "").strip("() \t\n"):
        return ""
    return unit.slice(name).rpartition("::")[2]
