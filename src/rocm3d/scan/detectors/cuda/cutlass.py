"""CUTLASS, CuTe and the matrix instructions below them: none of it exists for AMD GPUs.

One match per library and file, headers first, because the whole kernel has to be rewritten.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_first_word
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first use of every term. Names count only if no header of the same library was reported."""
    reported: set[str] = set()
    for term in sorted(context.code.terms, key=lambda term: not term.endswith("/")):
        library = term.rstrip("/:")
        if library in reported:
            continue
        for node, name in _occurrences(unit, term, library):
            if unit.is_shared(node.start_byte):
                reported.add(library)
                yield match_at(unit, node, name=name)
                break


def _occurrences(unit: CudaUnit, term: str, library: str) -> Iterator[tuple[Node, str]]:
    if term.endswith("/"):
        for include in unit.nodes("preproc_include"):
            path = include.child_by_field_name("path")
            if path is not None and unit.slice(path).strip('<>"').startswith(term):
                yield include, unit.slice(path).strip('<>"')
    elif term.endswith("::"):
        for node in unit.nodes("qualified_identifier", "using_declaration"):
            name = unit.slice(node).removeprefix("using namespace").strip("; ").lstrip(":")
            if name == library or name.startswith(term):
                yield node, name.split("<", 1)[0].split("\n", 1)[0]
    else:
        pattern = re.compile(rf"(?<![\w.]){re.escape(term)}")
        for node in unit.nodes("gnu_asm_expression", "type_identifier"):
            if pattern.search(unit.slice(node)):
                yield node, term


detector = Detector(__name__, code="CU402", unit_types=CudaUnit, find=find, prefilter=contains_first_word)
