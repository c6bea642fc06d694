"""64-bit lane masks on ROCm: replaces the type of the variable that holds a wave's mask, and each of its uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from tree_sitter import Node

from rocm3d.apply.guarded_lines import Replacement
from rocm3d.apply.lanes import SHUFFLES, LaneCall, enclosing_function
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import arguments, function_name
from rocm3d.syntax.unit import walk

_WIDE = "unsigned long long"
_COUNTS = {"__popc": "__popcll", "__ffs": "__ffsll"}
_NARROW = re.compile(r"(?:unsigned(?:\s+int)?|int|u?int32_t|std::uint32_t|uint|u32|U32|auto)$")
_LITERAL_ONE = re.compile(r"1[uU]?$")
_TRUTH_CONTEXTS = frozenset({"if_statement", "while_statement", "for_statement", "condition_clause"})
_BIT_OPERATORS = frozenset({"<<", "-", "+", "~", "*"})


def widen_wave_calls(
    unit: CudaUnit, calls: Iterable[LaneCall], wave_call: Callable[[LaneCall], str]
) -> list[Replacement]:
    """Edits that make each call over the whole wave `wave_call`, 64 bits wide."""
    replacements: list[Replacement] = []
    for call in calls:
        if call.lanes == "wave" and call.node is None:
            raise RewriteRefusedError(f"{call.name} over the whole wave is inside a macro")
        if call.lanes == "wave" and call.node is not None:
            replacements += widen_mask(unit, call.node, wave_call(call))
    return list(dict.fromkeys(replacements))


def widen_mask(unit: CudaUnit, call: Node, replacement: str) -> list[Replacement]:
    """Edits that make a call's value and the variable it initialises 64 bits wide. Refused for an unknown use."""
    replacements = [Replacement.of(call, replacement)]
    parent = unit.parents.get(call.id)
    if parent is None or parent.type != "init_declarator":
        return [*replacements, *_widen_use(unit, call)]
    declaration = unit.parents[parent.id]
    kind, name = declaration.child_by_field_name("type"), parent.child_by_field_name("declarator")
    declared = declaration.children_by_field_name("declarator")
    if kind is None or name is None or name.type != "identifier" or len(declared) != 1:
        raise RewriteRefusedError("the declaration of a mask declares other variables too")
    if not _NARROW.match(" ".join(unit.slice(kind).split())):
        raise RewriteRefusedError(f"a mask has the unexpected type {unit.slice(kind)}")
    if unit.slice(kind) != "auto":
        replacements.append(Replacement.of(kind, _WIDE))
    for use in _later_uses(unit, name, declaration):
        replacements += _widen_use(unit, use)
    return replacements


def _later_uses(unit: CudaUnit, name: Node, declaration: Node) -> Iterator[Node]:
    """Uses of the variable after its declaration, in the same function."""
    for node in walk(enclosing_function(unit, name)):
        if node.type != "identifier" or node.start_byte < declaration.end_byte:
            continue
        if unit.slice(node) == unit.slice(name):
            holder = unit.parents[node.id]
            is_declaration = holder.type in ("init_declarator", "declaration", "parameter_declaration")
            if is_declaration and holder.child_by_field_name("declarator") == node:
                raise RewriteRefusedError(f"{unit.slice(name)} is declared twice")
            yield node


def _widen_use(unit: CudaUnit, node: Node) -> list[Replacement]:
    node, parent = _with_user(unit, node)
    if parent.type == "argument_list":
        return _widen_argument(unit, node, unit.parents[parent.id])
    sign = parent.child_by_field_name("operator")
    if parent.type in _TRUTH_CONTEXTS or (parent.type == "unary_expression" and sign is not None and sign.type == "!"):
        return []
    if parent.type in ("binary_expression", "assignment_expression"):
        return _widen_operand(unit, node, parent)
    raise RewriteRefusedError(f"unknown use of a mask: {unit.slice(parent)}")


def _with_user(unit: CudaUnit, node: Node) -> tuple[Node, Node]:
    """The node with its parentheses, and the node that uses its value."""
    parent = unit.parents[node.id]
    while parent.type == "parenthesized_expression":
        node, parent = parent, unit.parents[parent.id]
    return node, parent


def _widen_argument(unit: CudaUnit, node: Node, call: Node) -> list[Replacement]:
    name, function = function_name(unit, call), call.child_by_field_name("function")
    call_arguments = arguments(call)
    assert function is not None
    if name in _COUNTS and len(call_arguments) == 1:
        return [Replacement.of(function, _COUNTS[name])]
    if name in SHUFFLES and call_arguments[0].id == node.id and len(call_arguments) == 3:
        # A shuffle without mask and width can read any active lane of the wave.
        maskless = Replacement.of(function, name.removesuffix("_sync"))
        return [maskless, Replacement(call_arguments[0].start_byte, call_arguments[1].start_byte, b"")]
    raise RewriteRefusedError(f"{name} expects a mask of 32 lanes")


def _widen_operand(unit: CudaUnit, node: Node, parent: Node) -> list[Replacement]:
    left, right = parent.child_by_field_name("left"), parent.child_by_field_name("right")
    sign = parent.child_by_field_name("operator")
    operator = "=" if sign is None else sign.type
    if operator == "-" and right is not None and _clears_lowest(unit, node, parent, right):
        return []
    if left is None or right is None or operator not in ("&", "&=", "==", "!=", ">>"):
        raise RewriteRefusedError(f"unknown use of a mask: {unit.slice(parent)}")
    other = right if left.id == node.id else left
    if operator in ("==", "!="):
        if unit.slice(other) not in ("0", "0u", "0U"):
            raise RewriteRefusedError(f"a mask is compared with {unit.slice(other)}")
        return []
    if operator == ">>":
        return _check_bit_test(unit, node, parent, left)
    return [*_widen_bits(unit, other, unit.slice(node)), *([] if operator == "&=" else _widen_use(unit, parent))]


def _clears_lowest(unit: CudaUnit, node: Node, parent: Node, right: Node) -> bool:
    """`mask & mask - 1` and `mask &= mask - 1` clear the lowest lane at any width."""
    _, outer = _with_user(unit, parent)
    sign, mask = outer.child_by_field_name("operator"), outer.child_by_field_name("left")
    if sign is None or sign.type not in ("&", "&=") or mask is None:
        return False
    return unit.slice(mask) == unit.slice(node) and _LITERAL_ONE.match(unit.slice(right)) is not None


def _check_bit_test(unit: CudaUnit, node: Node, parent: Node, left: Node) -> list[Replacement]:
    """`mask >> lane & 1` is correct at any width; other shifts are refused."""
    _, outer = _with_user(unit, parent)
    last = outer.child_by_field_name("right")
    if left.id != node.id or last is None or not _LITERAL_ONE.match(unit.slice(last)):
        raise RewriteRefusedError(f"unknown use of a mask: {unit.slice(parent)}")
    return []


def _widen_bits(unit: CudaUnit, node: Node, mask: str) -> list[Replacement]:
    """`(1u << lane) - 1u` with 64-bit ones. Refused for an operand that may have 32 bits."""
    replacements: list[Replacement] = []
    shifts = False
    stack = [node]
    while stack:
        current = stack.pop()
        sign = current.child_by_field_name("operator")
        if (sign is not None and sign.type not in _BIT_OPERATORS) or current.type == "call_expression":
            raise RewriteRefusedError(f"{unit.slice(node)} may have only 32 bits")
        if current.type == "number_literal" and _LITERAL_ONE.match(unit.slice(current)):
            replacements.append(Replacement.of(current, "1ull"))
        if sign is not None and sign.type == "<<":
            shifts = True
            stack += current.children_by_field_name("left")  # the shift distance does not matter
        else:
            stack += current.named_children
    if not shifts and unit.slice(node).replace(" ", "").strip("()") not in (f"{mask}-1", f"{mask}-1u"):
        raise RewriteRefusedError(f"{unit.slice(node)} may have only 32 bits")
    return replacements
