"""Names of Thrust's CUDA backend, such as thrust::cuda::par, which do not exist in rocThrust.

hipify rewrites includes of thrust/system/cuda, so an include is a note. It does not rewrite the namespace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_qualified_name
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches qualified names among the code's terms, outermost node only, and includes from the backend's folder."""
    names = tuple(term for term in context.code.terms if "::" in term)
    folders = tuple(term for term in context.code.terms if term.endswith("/"))
    end = -1
    for node in unit.nodes("qualified_identifier", "preproc_include"):
        if node.start_byte < end or not unit.is_shared(node.start_byte):
            continue
        if node.type == "preproc_include":
            path = node.child_by_field_name("path")
            header = "" if path is None else unit.slice(path).strip('<>"')
            if header.startswith(folders):
                match = match_at(unit, node, name=header)
                yield Match(match.line, match.column, match.facts, severity="note")
            continue
        text = "".join(unit.head(node).split()).removeprefix("::")
        if text.startswith(names):
            end = node.end_byte
            yield match_at(unit, node, name=text)


detector = Detector(__name__, code="CU206", unit_types=CudaUnit, find=find, prefilter=contains_qualified_name)
