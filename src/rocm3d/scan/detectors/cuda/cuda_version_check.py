"""A CUDA version macro in a condition or as a value: on ROCm it is undefined, or a HIP version on another scale."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Match, DetectorContext, match_at
from rocm3d.syntax.chains import if_chains, evaluate_condition
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_API = re.compile(rb"\bcu(?:da)?[A-Z]\w*")


def find(unit: CudaUnit, look: DetectorContext) -> Iterator[Match]:
    """Matches conditions that ROCm decides differently, uses as a value, and headers included only for the macro."""
    if any(name.encode() in unit.data for name in look.code.terms):
        yield from _conditions(unit, look)
        yield from _values(unit, look)


def _conditions(unit: CudaUnit, look: DetectorContext) -> Iterator[Match]:
    names = look.code.terms
    there = {name: not why.startswith("undefined") for name, why in names.items()}
    cuda, recent = dict.fromkeys(names, True), dict.fromkeys(names, float("inf"))
    for chain in if_chains(unit.data):
        for branch in chain.branches:
            # cuda_arch_guard reports conditions that also test __CUDA_ARCH__.
            if chain.mentions_rocm or branch.macros.isdisjoint(names) or "__CUDA_ARCH__" in branch.macros:
                continue
            on_rocm = evaluate_condition(branch.condition, there, dict.fromkeys(names, 0.0))
            if unit.is_shared(branch.start) and evaluate_condition(branch.condition, cuda, recent) != on_rocm:
                line, column = unit.text.position(branch.hash_offset)
                yield Match(line, column, {"guard": " ".join(branch.condition.split())})


def _values(unit: CudaUnit, look: DetectorContext) -> Iterator[Match]:
    asked = sorted((branch.start, branch.body_start) for chain in if_chains(unit.data) for branch in chain.branches)
    uses = [
        node
        for node in unit.nodes("identifier")
        if unit.slice(node) in look.code.terms
        and unit.is_shared(node.start_byte)
        and not _is_asked(asked, node.start_byte)
    ]
    if uses and not _API.search(unit.data):
        for include in unit.nodes("preproc_include"):
            path = include.child_by_field_name("path")
            header = "" if path is None else unit.slice(path).strip('<>"')
            if header.endswith(".h") and header in look.code.terms and unit.is_shared(include.start_byte):
                yield match_at(unit, include, guard=f"#include <{header}>")
    for node in uses:
        yield match_at(unit, node, guard=unit.slice(node))


def _is_asked(asked: list[tuple[int, int]], offset: int) -> bool:
    """Whether a byte offset is inside one of the conditions."""
    index = bisect_right(asked, (offset, offset + 1)) - 1
    return index >= 0 and asked[index][0] <= offset < asked[index][1]


detector = Detector(__name__, code="CU503", unit_types=CudaUnit, find=find)
