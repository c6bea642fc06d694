"""64-bit lane masks on ROCm: replaces the type of the variable that holds a wave's mask, and each of its uses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.apply.guarded_lines import Replacement
from rocm3d.apply.lane_calls import SHUFFLES, function_around
from rocm3d.apply.rewrite import Refuse
from rocm3d.syntax.lanes import arguments, function_name
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from rocm3d.syntax.cuda import CudaUnit

_WIDE = "unsigned long long"
_COUNTS = {"__popc": "__popcll", "__ffs": "__ffsll"}
_NARROW = re.compile(r"(?:unsigned(?:\s+int)?|int|u?int32_t|std::uint32_t|uint|u32|U32|auto)$")
_ONE = re.compile(r"1[uU]?$")
_TRUTH = frozenset({"if_statement", "while_statement", "for_statement", "condition_clause"})
_SHIFTS = frozenset({"<<", "-", "+", "~", "*"})


def widened(unit: CudaUnit, call: Node, instead: str) -> list[Replacement]:
    """Edits that make a call's value and the variable it initialises 64 bits wide. Refused for an unknown use."""
    found = [Replacement(call.start_byte, call.end_byte, instead.encode())]
    parent = unit.parents.get(call.id)
    if parent is None or parent.type != "init_declarator":
        return [*found, *_use(unit, call)]
    declaration = unit.parents[parent.id]
    kind, name = declaration.child_by_field_name("type"), parent.child_by_field_name("declarator")
    declared = declaration.children_by_field_name("declarator")
    if kind is None or name is None or name.type != "identifier" or len(declared) != 1:
        raise Refuse("the declaration of a mask declares other variables too")
    if not _NARROW.match(" ".join(unit.slice(kind).split())):
        raise Refuse(f"a mask has the unexpected type {unit.slice(kind)}")
    if unit.slice(kind) != "auto":
        found.append(Replacement(kind.start_byte, kind.end_byte, _WIDE.encode()))
    for use in _uses(unit, name, declaration):
        found += _use(unit, use)
    return found


def _uses(unit: CudaUnit, name: Node, declaration: Node) -> Iterator[Node]:
    """Uses of the variable after its declaration, in the same function."""
    for node in walk(function_around(unit, name)):
        if node.type != "identifier" or node.start_byte < declaration.end_byte:
            continue
        if unit.slice(node) == unit.slice(name):
            if unit.parents[node.id].type in ("init_declarator", "declaration", "parameter_declaration"):
                holder = unit.parents[node.id]
                if holder.child_by_field_name("declarator") == node:
                    raise Refuse(f"{unit.slice(name)} is declared twice")
            yield node


def _use(unit: CudaUnit, node: Node) -> list[Replacement]:
    parent = unit.parents[node.id]
    while parent.type == "parenthesized_expression":
        node, parent = parent, unit.parents[parent.id]
    if parent.type == "argument_list":
        return _argument(unit, node, unit.parents[parent.id])
    sign = parent.child_by_field_name("operator")
    if parent.type in _TRUTH or (parent.type == "unary_expression" and sign is not None and sign.type == "!"):
        return []
    if parent.type in ("binary_expression", "assignment_expression"):
        return _operand(unit, node, parent)
    raise Refuse(f"unknown use of a mask: {unit.slice(parent)}")


def _argument(unit: CudaUnit, node: Node, call: Node) -> list[Replacement]:
    name, function = function_name(unit, call), call.child_by_field_name("function")
    given = arguments(call)
    assert function is not None
    if name in _COUNTS and len(given) == 1:
        return [Replacement(function.start_byte, function.end_byte, _COUNTS[name].encode())]
    if name in SHUFFLES and given[0].id == node.id and len(given) == 3:
        # A shuffle without mask and width can read any active lane of the wave.
        maskless = Replacement(function.start_byte, function.end_byte, name.removesuffix("_sync").encode())
        return [maskless, Replacement(given[0].start_byte, given[1].start_byte, b"")]
    raise Refuse(f"{name} expects a mask of 32 lanes")


def _operand(unit: CudaUnit, node: Node, parent: Node) -> list[Replacement]:
    left, right = parent.child_by_field_name("left"), parent.child_by_field_name("right")
    sign = parent.child_by_field_name("operator")
    operator = "=" if sign is None else sign.type
    if operator == "-" and right is not None and _clears_lowest(unit, node, parent, right):
        return []
    if left is None or right is None or operator not in ("&", "&=", "==", "!=", ">>"):
        raise Refuse(f"unknown use of a mask: {unit.slice(parent)}")
    other = right if left.id == node.id else left
    if operator in ("==", "!="):
        if unit.slice(other) not in ("0", "0u", "0U"):
            raise Refuse(f"a mask is compared with {unit.slice(other)}")
        return []
    if operator == ">>":
        return _use_of_bit(unit, node, parent, left)
    return [*_bits(unit, other, unit.slice(node)), *([] if operator == "&=" else _use(unit, parent))]


def _clears_lowest(unit: CudaUnit, node: Node, parent: Node, right: Node) -> bool:
    """`mask & mask - 1` and `mask &= mask - 1` clear the lowest lane at any width."""
    outer = unit.parents[parent.id]
    while outer.type == "parenthesized_expression":
        outer = unit.parents[outer.id]
    sign, mask = outer.child_by_field_name("operator"), outer.child_by_field_name("left")
    joined = sign is not None and sign.type in ("&", "&=") and mask is not None
    return joined and mask is not None and unit.slice(mask) == unit.slice(node) and bool(_ONE.match(unit.slice(right)))


def _use_of_bit(unit: CudaUnit, node: Node, parent: Node, left: Node) -> list[Replacement]:
    """`mask >> lane & 1` is correct at any width; other shifts are refused."""
    outer = unit.parents[parent.id]
    while outer.type == "parenthesized_expression":
        outer = unit.parents[outer.id]
    last = outer.child_by_field_name("right")
    if left.id != node.id or last is None or not _ONE.match(unit.slice(last)):
        raise Refuse(f"unknown use of a mask: {unit.slice(parent)}")
    return []


def _bits(unit: CudaUnit, node: Node, mask: str) -> list[Replacement]:
    """`(1u << lane) - 1u` with 64-bit ones. Refused for an operand that may have 32 bits."""
    found: list[Replacement] = []
    shifts = False
    stack = [node]
    while stack:
        item = stack.pop()
        sign = item.child_by_field_name("operator")
        if (sign is not None and sign.type not in _SHIFTS) or item.type == "call_expression":
            raise Refuse(f"{unit.slice(node)} may have only 32 bits")
        if item.type == "number_literal" and _ONE.match(unit.slice(item)):
            found.append(Replacement(item.start_byte, item.end_byte, b"1ull"))
        if sign is not None and sign.type == "<<":
            shifts = True
            stack += item.children_by_field_name("left")  # the shift distance does not matter
        else:
            stack += item.named_children
    if not shifts and unit.slice(node).replace(" ", "").strip("()") not in (f"{mask}-1", f"{mask}-1u"):
        raise Refuse(f"{unit.slice(node)} may have only 32 bits")
    return found
