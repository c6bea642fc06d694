"""Functions that a source registers as torch operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from rocm3d.syntax.cuda import CudaUnit

# `torch::RegisterOperators().op("name", &function)`
_METHOD = ".op"


def registered_noexcept(unit: CudaUnit) -> Iterator[Node]:
    """`&function` nodes in registrations of functions that the file declares noexcept and without parameters."""
    known = {_declared(unit, node) for node in unit.nodes("noexcept")} - {""}
    if not known:
        return
    for call in unit.nodes("call_expression"):
        function, given = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or given is None or not unit.slice(function).endswith(_METHOD):
            continue
        for node in given.named_children:
            if node.type != "pointer_expression" or not unit.is_shared(node.start_byte):
                continue
            name = unit.slice(node).removeprefix("&").strip()
            if name.rpartition("::")[2] in known:
                yield node


def _declared(unit: CudaUnit, node: Node) -> str:
    """The name of the function declared with this noexcept, if it has no parameters; else empty."""
    function = node.parent
    if function is None or function.type != "function_declarator":
        return ""
    name, taken = function.child_by_field_name("declarator"), function.child_by_field_name("parameters")
    if name is None or taken is None or unit.slice(taken).replace("void", "").strip("() \t\n"):
        return ""
    return unit.slice(name).rpartition("::")[2]
