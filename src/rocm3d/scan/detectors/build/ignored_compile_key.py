"""A key of extra_compile_args that torch does not read, such as hipcc: its flags reach no compiler."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, string_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_KNOWN_KEYS = frozenset({"cxx", "nvcc"})
_FLAGS_NAME = re.compile(r"\w*compile_args$")


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches keys of flag dictionaries, and single keys assigned later.

    A flag dictionary has a known key or is bound to a name that ends in `compile_args`.
    """
    if not unit.builds_extensions:
        return
    flag_values = _flag_value_offsets(unit)
    for table in unit.nodes("dictionary"):
        key_nodes = [pair.child_by_field_name("key") for pair in table.named_children if pair.type == "pair"]
        keys = {string_value(unit, key): key for key in key_nodes if key is not None}
        if not (_KNOWN_KEYS & keys.keys() or table.start_byte in flag_values):
            continue
        for text, key in keys.items():
            if text is not None and text in context.code.terms:
                yield match_at(unit, key, key=text)
    for left in _subscript_targets(unit):
        value, subscript = left.child_by_field_name("value"), left.child_by_field_name("subscript")
        text = None if subscript is None else string_value(unit, subscript)
        if (
            value is not None
            and subscript is not None
            and text in context.code.terms
            and _FLAGS_NAME.match(unit.slice(value))
        ):
            yield match_at(unit, subscript, key=text or "")


def _flag_value_offsets(unit: PythonUnit) -> set[int]:
    """Byte offsets of the values of arguments and variables named `...compile_args`."""
    offsets = set()
    for node in unit.nodes("keyword_argument", "assignment"):
        left = node.child_by_field_name("name" if node.type == "keyword_argument" else "left")
        right = node.child_by_field_name("value" if node.type == "keyword_argument" else "right")
        if left is not None and right is not None and _FLAGS_NAME.match(unit.slice(left)):
            offsets.add(right.start_byte)
    return offsets


def _subscript_targets(unit: PythonUnit) -> Iterator[Node]:
    for node in unit.nodes("assignment", "augmented_assignment"):
        left = node.child_by_field_name("left")
        if left is not None and left.type == "subscript":
            yield left


detector = Detector(__name__, code="BLD106", unit_types=PythonUnit, find=find)
