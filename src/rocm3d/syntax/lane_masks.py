"""Finds 32-bit variables, types and functions that receive the value of a call, for the rules on 64-bit lane masks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from rocm3d.syntax.cuda import CudaUnit

_TYPE_32BIT = re.compile(r"(?:(?:unsigned|signed)(?:\s+int)?|u?int(?:32)?(?:_t)?|std::u?int32_t|[uUsSiI]32)$")
_TRANSPARENT_NODES = frozenset({"parenthesized_expression", "conditional_expression", "unary_expression"})
_BITWISE = frozenset({"&", "|", "^", "<<", ">>"})
_MAX_DEPTH = 256  # hand-written code is never deeper; hostile files would make every walk long


def ancestors_with_child(node: Node, parents: Mapping[int, Node]) -> Iterator[tuple[Node, Node]]:
    """Pairs (ancestor, its child on the path to the node), nearest first."""
    for _ in range(_MAX_DEPTH):
        parent = parents.get(node.id)
        if parent is None:
            return
        yield parent, node
        node = parent


def _propagates_value(parent: Node) -> bool:
    """Whether the value of an operand becomes part of the value of the expression."""
    if parent.type in _TRANSPARENT_NODES:
        return True
    operator = parent.child_by_field_name("operator") if parent.type == "binary_expression" else None
    return operator is not None and operator.type in _BITWISE


def arguments(call: Node) -> list[Node]:
    """The argument nodes of a call without comments."""
    argument_list = call.child_by_field_name("arguments")
    return [] if argument_list is None else [node for node in argument_list.named_children if node.type != "comment"]


def function_name(unit: CudaUnit, call: Node) -> str:
    """The name of the called function, without namespaces and template arguments."""
    function = call.child_by_field_name("function")
    return "" if function is None else unit.head(function).split("<", 1)[0].strip().rsplit("::", 1)[-1]


@dataclass(frozen=True)
class NarrowReceivers:
    """Finds 32-bit receivers of values in one file; `functions` read only 32 bits of their argument."""

    unit: CudaUnit
    functions: Collection[str]

    @cached_property
    def _receivers(self) -> dict[int, str | None]:
        """Cached receiver of each visited node: paths to the root share most of their nodes."""
        return {}

    @cached_property
    def _declarations(self) -> dict[str, list[tuple[int, str | None]]]:
        """Declarations of each name: byte offset and 32-bit type, or None for another type."""
        declarations: dict[str, list[tuple[int, str | None]]] = {}
        for node in self.unit.nodes("declaration", "parameter_declaration"):
            for declarator in node.children_by_field_name("declarator"):
                inner = (
                    declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else declarator
                )
                if inner is not None and inner.type == "identifier":
                    declarations.setdefault(self.unit.slice(inner), []).append(
                        (node.start_byte, self._type_32bit(node))
                    )
        return declarations

    def receiver_32bit(self, call: Node) -> str | None:
        """The 32-bit variable, type or function that receives the value of a call; None if none is known."""
        visited: list[int] = []
        node, receiver = call, None
        while node.id not in self._receivers:
            visited.append(node.id)
            parent = self.unit.parents.get(node.id)
            if parent is None:
                break
            if not _propagates_value(parent):
                receiver = self._receiver(parent, node)
                break
            node = parent
        receiver = self._receivers.get(node.id, receiver)
        self._receivers.update(dict.fromkeys(visited, receiver))
        return receiver

    def _receiver(self, parent: Node, child: Node) -> str | None:
        outer = self.unit.parents.get(parent.id)
        if parent.type == "cast_expression":
            return self._type_32bit(parent)
        if parent.type == "argument_list" and outer is not None and outer.type == "call_expression":
            name = function_name(self.unit, outer)
            return name if name in self.functions else None
        if parent.type == "init_declarator":
            return self._variable(parent.child_by_field_name("declarator"), parent.end_byte)
        if parent.type == "assignment_expression":
            left = parent.child_by_field_name("left")
            return self._variable(left, parent.start_byte) if left is not None and left.id != child.id else None
        if parent.type == "return_statement":
            ancestors = (node for node, _ in ancestors_with_child(parent, self.unit.parents))
            function = next((node for node in ancestors if node.type == "function_definition"), None)
            return None if function is None else self._type_32bit(function)
        return None

    def _type_32bit(self, holder: Node) -> str | None:
        type_node = holder.child_by_field_name("type")
        text = "" if type_node is None else " ".join(self.unit.slice(type_node).split())
        return text if _TYPE_32BIT.match(text) else None

    def _variable(self, name: Node | None, before: int) -> str | None:
        """The nearest declaration of a name before an offset, as `type name`, if it is 32 bits wide."""
        if name is None or name.type != "identifier":
            return None
        declarations = self._declarations.get(self.unit.slice(name), [])
        index = bisect_left(declarations, before, key=lambda declaration: declaration[0]) - 1
        type_name = declarations[index][1] if index >= 0 else None
        return None if type_name is None else f"{type_name} {self.unit.slice(name)}"
