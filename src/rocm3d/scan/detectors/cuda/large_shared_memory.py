"""More shared memory than every AMD GPU offers per block: arrays, launches, and the attribute that raises the limit."""

from __future__ import annotations

import operator
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_launch
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

_ATTRIBUTE = "cudaFuncAttributeMaxDynamicSharedMemorySize"
_SIZES = {"char": 1, "bool": 1, "short": 2, "half": 2, "__half": 2, "int": 4, "unsigned": 4, "float": 4, "double": 8}
_TYPE = re.compile(
    r"(?:std::)?u?int(8|16|32|64)_t|(unsigned )?(char|short|int)|u?(char|short|int|float|double|half)([1-4])"
)
_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<<": lambda left, right: left << right if 0 <= right < _MAX_DEPTH else 0,
}
_MAX_DEPTH = 32  # limit for nested expressions and for shift counts
_OPEN, _CLOSE = b"auto probe = ", b"\n;"  # a macro body is parsed between these


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches sizes above the limit. A requested size that is not known from the file is a note."""
    limit = min((target.lds_kib for target in context.knowledge.targets.values()), default=0) * 1024
    known = _constants(unit) if limit else {}
    yield from _array_matches(unit, known, limit) if limit else ()
    for call in unit.nodes("call_expression"):
        node = _requested_size(unit, call) if limit and unit.is_shared(call.start_byte) else None
        size = None if node is None else _constant_value(unit, node, known)
        if node is not None and size is not None and size > limit:
            yield match_at(unit, node, bytes=str(size))
        elif node is not None and size is None and node.parent is not None and node.parent.type == "argument_list":
            yield replace(match_at(unit, node, bytes=unit.slice(node)), severity="note")


def _requested_size(unit: CudaUnit, call: Node) -> Node | None:
    """The size argument of a launch, or of a call that sets the attribute."""
    for child in call.named_children:
        if child.type == "kernel_call_syntax":
            return child.named_children[2] if len(child.named_children) > 2 else None
    arguments = call.child_by_field_name("arguments")
    argument_nodes = [] if arguments is None else arguments.named_children
    return argument_nodes[-1] if _ATTRIBUTE in [unit.slice(node) for node in argument_nodes[:-1]] else None


def _array_matches(unit: CudaUnit, known: dict[str, int], limit: int) -> Iterator[Match]:
    """Matches the array with which the known sizes of a function exceed the limit in bytes."""
    sums: dict[int, int] = {}
    for declaration in unit.nodes("declaration"):
        kind, name = declaration.child_by_field_name("type"), declaration.child_by_field_name("declarator")
        shared = any(unit.slice(child) == "__shared__" for child in declaration.named_children)
        if not shared or kind is None or name is None or not unit.is_shared(declaration.start_byte):
            continue
        total = _type_size(unit.slice(kind))
        while name is not None and name.type == "array_declarator":
            count = name.child_by_field_name("size")
            total *= 0 if count is None else _constant_value(unit, count, known) or 0
            name = name.child_by_field_name("declarator")
        function = declaration.parent
        while function is not None and function.type != "function_definition":
            function = function.parent
        key = -1 if function is None else function.start_byte
        before, sums[key] = sums.get(key, 0), sums.get(key, 0) + total
        if before <= limit < sums[key]:
            yield match_at(unit, declaration, bytes=str(sums[key]))


def _type_size(text: str) -> int:
    """The size of a type in bytes, 0 if it is not known."""
    match = _TYPE.fullmatch(" ".join(text.split()))
    if match is None or text in _SIZES:
        return _SIZES.get(text, 0)
    if match.group(1):
        return int(match.group(1)) // 8
    return _SIZES[match.group(3)] if match.group(3) else _SIZES[match.group(4)] * int(match.group(5))


def _constants(unit: CudaUnit) -> dict[str, int]:
    """Macros and constants with a computable value. A name with two values is left out."""
    known: dict[str, int] = {}
    ambiguous: set[str] = set()
    for node in unit.nodes("preproc_def", "init_declarator"):
        name = node.child_by_field_name("name") or node.child_by_field_name("declarator")
        value, probe = node.child_by_field_name("value"), unit
        if node.type == "preproc_def" and value is not None:
            probe = CudaUnit("", _OPEN + unit.data[value.start_byte : value.end_byte] + _CLOSE)
            value = next(
                (declarator.child_by_field_name("value") for declarator in probe.nodes("init_declarator")), None
            )
        elif "const" not in _declaration_head(unit, node):
            value = None
        key = "" if name is None else unit.slice(name)
        number = _constant_value(probe, value, known) if value is not None and unit.is_shared(node.start_byte) else None
        if number is None or known.get(key, number) != number:
            ambiguous.add(key)
        known |= {} if number is None else {key: number}
    return {key: number for key, number in known.items() if key not in ambiguous}


def _declaration_head(unit: CudaUnit, node: Node) -> str:
    """The text of the declaration around an initialised name, up to the `=`."""
    parent = unit.parents.get(node.id)
    return "" if parent is None else unit.head(parent).split("=", 1)[0]


def _constant_value(unit: CudaUnit, node: Node, known: dict[str, int], depth: int = _MAX_DEPTH) -> int | None:
    """The value of a constant expression, None if it is not known."""
    text, sign = unit.slice(node), node.child_by_field_name("operator")
    if node.type == "number_literal":
        digits = text.replace("'", "").rstrip("uUlLzZ")
        base = 16 if digits[:2] in ("0x", "0X") else 10
        return int(digits, base) if re.fullmatch(r"0[xX][\da-fA-F]{1,16}|\d{1,18}", digits) else None
    if node.type == "identifier":
        return known.get(text)
    if node.type == "sizeof_expression":
        kind = node.child_by_field_name("type") or node.child_by_field_name("value")
        return None if kind is None else _type_size(unit.slice(kind).strip("() ")) or None
    if not depth or node.type not in ("binary_expression", "parenthesized_expression"):
        return None
    parts = [_constant_value(unit, child, known, depth - 1) for child in node.named_children if child.type != "comment"]
    numbers = [part for part in parts if part is not None]
    if sign is None or len(numbers) < len(parts):
        return numbers[0] if len(parts) == len(numbers) == 1 else None
    return _OPERATORS[sign.type](numbers[0], numbers[-1]) if sign.type in _OPERATORS else None


def _can_match(unit: CudaUnit, context: DetectorContext) -> bool:
    return b"__shared__" in unit.data or _ATTRIBUTE.encode() in unit.data or contains_launch(unit, context)


detector = Detector(__name__, code="CU408", unit_types=CudaUnit, find=find, prefilter=_can_match)
