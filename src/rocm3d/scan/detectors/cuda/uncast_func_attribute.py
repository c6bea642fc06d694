"""cudaFuncSetAttribute with an uncast kernel: HIP has only the overload that takes a const void*."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

# Names, `&kernel`, and `kernel<A, B>`, which the grammar parses as comparisons.
_UNCAST_NODES = frozenset(
    {"identifier", "qualified_identifier", "template_function", "pointer_expression", "binary_expression"}
)


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches calls among the code's terms whose first argument is a function name without a cast."""
    void_pointers = set(_void_pointers(unit))
    for call in unit.nodes("call_expression"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None or unit.head(function) not in context.code.terms:
            continue
        argument_nodes = [node for node in arguments.named_children if node.type != "comment"]
        if (
            argument_nodes
            and unit.is_shared(call.start_byte)
            and _is_uncast(argument_nodes[0])
            and unit.slice(argument_nodes[0]) not in void_pointers
        ):
            yield match_at(
                unit,
                argument_nodes[0],
                call=unit.head(function),
                kernel=" ".join(unit.slice(argument_nodes[0]).split()),
            )


def _is_uncast(node: Node) -> bool:
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    return node.type in _UNCAST_NODES


def _void_pointers(unit: CudaUnit) -> Iterator[str]:
    """Names of variables and parameters that are void pointers already."""
    for pointer in unit.nodes("pointer_declarator"):
        name, parent = pointer.child_by_field_name("declarator"), unit.parents.get(pointer.id)
        while parent is not None and parent.type == "init_declarator":
            parent = unit.parents.get(parent.id)
        kind = None if parent is None else parent.child_by_field_name("type")
        if name is not None and kind is not None and unit.slice(kind) == "void":
            yield unit.slice(name)


detector = Detector(__name__, code="CU303", unit_types=CudaUnit, find=find, prefilter=contains_term)
