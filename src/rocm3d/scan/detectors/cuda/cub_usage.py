"""CUB calls that behave differently in hipCUB. hipify maps includes and namespace, so other calls need no change.

Reported are warp collectives with the hardware's default width, radix sorts of a part of the key or with a decomposer,
and TempStorage that is used again without a barrier.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_WARP_COLLECTIVES = ("WarpReduce", "WarpScan")
_SORT = re.compile(r"(?:::)?cub::DeviceRadixSort::Sort(Keys|Pairs)(?:Descending)?$")
_STORAGE = re.compile(rb"\bTempStorage\s+(\w+)")
_BARRIER = re.compile(rb"__syncthreads|\bsync\s*\(|__syncwarp")
_FIRST_BIT = {"Keys": (5, 4), "Pairs": (7, 5)}  # argument index of begin_bit, with pointers and with a DoubleBuffer


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the three patterns in source order."""
    if b"cub::" not in unit.data:
        return
    candidates = [*_default_width_collectives(unit), *_partial_sorts(unit), *_reused_storage(unit)]
    for node, name, why, severity in sorted(candidates, key=lambda candidate: candidate[0].start_byte):
        if unit.is_shared(node.start_byte):
            match = match_at(unit, node, name=name, why=why or context.code.terms[name])
            yield Match(match.line, match.column, match.facts, severity="note" if severity == "note" else None)


def _default_width_collectives(unit: CudaUnit) -> Iterator[tuple[Node, str, str, str]]:
    for node in unit.nodes("qualified_identifier"):
        scope, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
        if scope is None or name is None or unit.slice(scope) != "cub":
            continue
        while name is not None and name.type == "qualified_identifier":  # cub::WarpReduce<T>::TempStorage
            name = name.child_by_field_name("scope")
        inner, template_arguments = (
            (None, None) if name is None else (name.child_by_field_name(f) for f in ("name", "arguments"))
        )
        if (
            inner is not None
            and template_arguments is not None
            and unit.slice(inner) in _WARP_COLLECTIVES
            and template_arguments.named_child_count == 1
        ):
            yield node, f"cub::{unit.slice(inner)}", "", ""


def _partial_sorts(unit: CudaUnit) -> Iterator[tuple[Node, str, str, str]]:
    for call in unit.nodes("call_expression"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        match = None if function is None else _SORT.match(unit.head(function).split("<", 1)[0])
        if match is None or arguments is None:
            continue
        argument_nodes = [node for node in arguments.named_children if node.type != "comment"]
        bit_index = _FIRST_BIT[match.group(1)][b"DoubleBuffer" in unit.data]
        if len(argument_nodes) <= bit_index:
            continue
        first = argument_nodes[bit_index]
        if first.type == "compound_literal_expression" or "decompos" in unit.slice(first).lower():
            # The fix changes the decomposer's tuple, which another rule (libcudacxx) reports if it is in this file.
            if b"rocprim" not in unit.data:
                severity = "note" if b"cuda::std" in unit.data else ""
                yield call, "cub::DeviceRadixSort", "its decomposer must return a rocprim::tuple", severity
        elif first.type == "number_literal" and unit.slice(first).strip("uUlL") != "0":
            yield call, "cub::DeviceRadixSort", "", ""


def _reused_storage(unit: CudaUnit) -> Iterator[tuple[Node, str, str, str]]:
    """Two collectives on one TempStorage in the same function without a barrier between them."""
    blank = blanked(unit.data)
    for body in unit.nodes("function_definition"):
        text = blank[body.start_byte : body.end_byte]
        for storage in {match.group(1) for match in _STORAGE.finditer(text)}:
            uses = list(re.finditer(rb"\b(\w+)(?:<[^;{}]*>)?\s*\(\s*" + storage + rb"\s*\)\s*\.\s*\w+", text))
            for before, after in pairwise(uses):
                if not _BARRIER.search(text[before.end() : after.start()]):
                    offset = body.start_byte + after.start()
                    node = body.descendant_for_byte_range(offset, offset + 1)
                    why = "its TempStorage is used again without __syncthreads"
                    yield node or body, after.group(1).decode("ascii", "replace"), why, ""


detector = Detector(__name__, code="CU205", unit_types=CudaUnit, find=find)
