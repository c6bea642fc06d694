"""Lane arithmetic with 32 in a function with a wave-wide vote or broadcast: only there 32 means the hardware wave size.

Groups of 32 (tiles, shuffles of width 32, the up, down and xor steps of a tree) stay correct on 64 lanes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.guards import PreprocessorContext
from rocm3d.syntax.lane_masks import arguments, function_name
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_VOTE = re.compile(r"__(?:ballot|any|all|match_any|match_all)(?:_sync)?$|__activemask$")
_BROADCAST = {"__shfl_sync": 3, "__shfl": 2}  # argument count without a width
_WIDTH, _LOW_BITS = re.compile(r"32[uU]?$"), re.compile(r"(?:31|0x1[fF])[uU]?$|\(\s*32\s*-\s*1\s*\)$")
_WIDTH_NAME = re.compile(r"k?_?(?:c10_)?warp_?(?:size)?$", re.IGNORECASE)
_THREAD = re.compile(r"threadIdx\s*\.\s*[xyz]|\b(?:tid\w*|\w*thread\w*|lane\w*|row_?idx)\b", re.IGNORECASE)


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first lane arithmetic of each function with a wave-wide call, or the definition of a named 32."""
    width_constants = dict(_width_constants(unit))
    reported: set[int] = set()
    end = 0
    for function in unit.nodes("function_definition"):
        if function.start_byte < end:
            continue  # nested in the previous function, which was searched as a whole
        end = function.end_byte
        inner = list(walk(function))
        if not any(_uses_whole_wave(unit, node) for node in inner if node.type == "call_expression"):
            continue
        for node in inner:
            if node.type != "binary_expression" or not unit.is_shared(node.start_byte):
                continue
            width = _width_operand(unit, node, width_constants)
            if width is None:
                continue
            reported_node = width_constants.get(width, node)
            if reported_node.id not in reported:
                reported.add(reported_node.id)
                yield match_at(
                    unit, reported_node, text=f"{width} = 32" if width in width_constants else unit.slice(node)
                )
            break


def _uses_whole_wave(unit: CudaUnit, call: Node) -> bool:
    name = function_name(unit, call)
    return _VOTE.match(name) is not None or len(arguments(call)) == _BROADCAST.get(name)


def _width_operand(unit: CudaUnit, node: Node, width_constants: dict[str, Node]) -> str | None:
    """The operand that stands for the width in `thread & 31`, `>> 5`, `% 32`, `/ 32`, or None for other arithmetic."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None or not _THREAD.search(unit.head(left)):
        return None
    sign, text = operator.type, unit.head(right)
    if (sign in "%/" and _WIDTH.match(text)) or (sign == "&" and _LOW_BITS.match(text)) or (sign, text) == (">>", "5"):
        return text
    bare = re.sub(r"^\(\s*(\w+)\s*-\s*1\s*\)$", r"\1", text) if sign == "&" else text if sign in "%/" else ""
    return bare if bare in width_constants else None


def _width_constants(unit: CudaUnit) -> Iterator[tuple[str, Node]]:
    for node in unit.nodes("preproc_def", "init_declarator"):
        name = node.child_by_field_name("name" if node.type == "preproc_def" else "declarator")
        value = node.child_by_field_name("value")
        if name is None or value is None or not unit.is_shared(node.start_byte):
            continue
        is_width = _WIDTH.match(unit.slice(value).split("//")[0].strip().strip("()"))
        if not _WIDTH_NAME.match(unit.slice(name)) or not is_width:
            continue
        # A constant chosen by target is right as it is.
        if not PreprocessorContext.of(unit.data).is_target_specific(node.start_byte):
            yield unit.slice(name), node


_WHOLE_WAVE_CALLS = (b"__ballot", b"__any", b"__all", b"__match_", b"__activemask", b"__shfl")  # prefixes

detector = Detector(__name__, code="CU104", unit_types=CudaUnit, find=find, prefilter=_WHOLE_WAVE_CALLS)
