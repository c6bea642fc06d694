"""A CUDA version macro in a condition or as a value: on ROCm it is undefined, or a HIP version on another scale."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.guards import evaluate_condition, if_chains

if TYPE_CHECKING:
    from collections.abc import Iterator

_API = re.compile(rb"\bcu(?:da)?[A-Z]\w*")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches conditions that ROCm decides differently, uses as a value, and headers included only for the macro."""
    if any(name.encode() in unit.data for name in context.code.terms):
        yield from _conditions(unit, context)
        yield from _values(unit, context)


def _conditions(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    names = context.code.terms
    defined_on_rocm = {name: not why.startswith("undefined") for name, why in names.items()}
    cuda, recent = dict.fromkeys(names, True), dict.fromkeys(names, float("inf"))
    for chain in if_chains(unit.data):
        for branch in chain.branches:
            # cuda_arch_guard reports conditions that also test __CUDA_ARCH__.
            if chain.mentions_rocm or branch.macros.isdisjoint(names) or "__CUDA_ARCH__" in branch.macros:
                continue
            on_rocm = evaluate_condition(branch.condition, defined_on_rocm, dict.fromkeys(names, 0.0))
            if unit.is_shared(branch.start) and evaluate_condition(branch.condition, cuda, recent) != on_rocm:
                line, column = unit.text.position(branch.hash_offset)
                yield Match(line, column, {"guard": " ".join(branch.condition.split())})


def _values(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    condition_ranges = sorted(
        (branch.start, branch.body_start) for chain in if_chains(unit.data) for branch in chain.branches
    )
    uses = [
        node
        for node in unit.nodes("identifier")
        if unit.slice(node) in context.code.terms
        and unit.is_shared(node.start_byte)
        and not _is_in_condition(condition_ranges, node.start_byte)
    ]
    if uses and not _API.search(unit.data):
        for include in unit.nodes("preproc_include"):
            path = include.child_by_field_name("path")
            header = "" if path is None else unit.slice(path).strip('<>"')
            if header.endswith(".h") and header in context.code.terms and unit.is_shared(include.start_byte):
                yield match_at(unit, include, guard=f"#include <{header}>")
    for node in uses:
        yield match_at(unit, node, guard=unit.slice(node))


def _is_in_condition(condition_ranges: list[tuple[int, int]], offset: int) -> bool:
    """Whether a byte offset is inside one of the conditions."""
    index = bisect_right(condition_ranges, (offset, offset + 1)) - 1
    return index >= 0 and condition_ranges[index][0] <= offset < condition_ranges[index][1]


detector = Detector(__name__, code="CU503", unit_types=CudaUnit, find=find)
