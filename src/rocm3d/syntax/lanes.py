"""Finds 32-bit variables, types and functions that receive the value of a call, for the rules on 64-bit lane masks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from rocm3d.syntax.cuda import CudaUnit

_NARROW = re.compile(r"(?:(?:unsigned|signed)(?:\s+int)?|u?int(?:32)?(?:_t)?|std::u?int32_t|[uUsSiI]32)$")
_PASSED_ON = frozenset({"parenthesized_expression", "conditional_expression", "unary_expression"})
_BITWISE = frozenset({"&", "|", "^", "<<", ">>"})
_DEPTH = 256  # hand-written code is never deeper; hostile files would make every walk long


def upward(node: Node, above: Mapping[int, Node]) -> Iterator[tuple[Node, Node]]:
    """Pairs (ancestor, its child on the path to the node), nearest first."""
    for _ in range(_DEPTH):
        parent = above.get(node.id)
        if parent is None:
            return
        yield parent, node
        node = parent


def _passes_on(parent: Node) -> bool:
    """Whether the value of an operand becomes part of the value of the expression."""
    if parent.type in _PASSED_ON:
        return True
    operator = parent.child_by_field_name("operator") if parent.type == "binary_expression" else None
    return operator is not None and operator.type in _BITWISE


def arguments(call: Node) -> list[Node]:
    """The argument nodes of a call without comments."""
    given = call.child_by_field_name("arguments")
    return [] if given is None else [item for item in given.named_children if item.type != "comment"]


def function_name(unit: CudaUnit, call: Node) -> str:
    """The name of the called function, without namespaces and template arguments."""
    function = call.child_by_field_name("function")
    return "" if function is None else unit.head(function).split("<", 1)[0].strip().rsplit("::", 1)[-1]


@dataclass(frozen=True)
class Values:
    """Finds 32-bit receivers of values in one file; `functions` read only 32 bits of their argument."""

    unit: CudaUnit
    functions: Collection[str]

    @cached_property
    def _takers(self) -> dict[int, str | None]:
        """Cached receiver of each visited node: paths to the root share most of their nodes."""
        return {}

    @cached_property
    def _declared(self) -> dict[str, list[tuple[int, str | None]]]:
        """Declarations of each name: byte offset and 32-bit type, or None for another type."""
        found: dict[str, list[tuple[int, str | None]]] = {}
        for node in self.unit.nodes("declaration", "parameter_declaration"):
            for item in node.children_by_field_name("declarator"):
                inner = item.child_by_field_name("declarator") if item.type == "init_declarator" else item
                if inner is not None and inner.type == "identifier":
                    found.setdefault(self.unit.slice(inner), []).append((node.start_byte, self._narrow(node)))
        return found

    def kept_in_32_bits(self, call: Node) -> str | None:
        """The 32-bit variable, type or function that receives the value of a call; None if none is known."""
        way: list[int] = []
        node, taker = call, None
        while node.id not in self._takers:
            way.append(node.id)
            parent = self.unit.parents.get(node.id)
            if parent is None:
                break
            if not _passes_on(parent):
                taker = self._taker(parent, node)
                break
            node = parent
        taker = self._takers.get(node.id, taker)
        self._takers.update(dict.fromkeys(way, taker))
        return taker

    def _taker(self, parent: Node, child: Node) -> str | None:
        found: str | None = None
        outer = self.unit.parents.get(parent.id)
        if parent.type == "cast_expression":
            found = self._narrow(parent)
        elif parent.type == "argument_list" and outer is not None and outer.type == "call_expression":
            name = function_name(self.unit, outer)
            found = name if name in self.functions else None
        elif parent.type == "init_declarator":
            found = self._variable(parent.child_by_field_name("declarator"), parent.end_byte)
        elif parent.type == "assignment_expression":
            left = parent.child_by_field_name("left")
            found = self._variable(left, parent.start_byte) if left is not None and left.id != child.id else None
        elif parent.type == "return_statement":
            owner = next(
                (node for node, _ in upward(parent, self.unit.parents) if node.type == "function_definition"), None
            )
            found = None if owner is None else self._narrow(owner)
        return found

    def _narrow(self, holder: Node) -> str | None:
        kind = holder.child_by_field_name("type")
        text = "" if kind is None else " ".join(self.unit.slice(kind).split())
        return text if _NARROW.match(text) else None

    def _variable(self, name: Node | None, before: int) -> str | None:
        """The nearest declaration of a name before an offset, as `type name`, if it is 32 bits wide."""
        if name is None or name.type != "identifier":
            return None
        declared = self._declared.get(self.unit.slice(name), [])
        index = bisect_left(declared, before, key=lambda item: item[0]) - 1
        kind = declared[index][1] if index >= 0 else None
        return None if kind is None else f"{kind} {self.unit.slice(name)}"
