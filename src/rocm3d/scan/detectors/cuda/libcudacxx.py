"""Use of libcu++, which ROCm does not ship: <cuda/std/...>, cuda::std:: and the other headers of that library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_qualified_name
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches includes among the code's terms, and each outermost name in cuda::std."""
    headers = tuple(term for term in context.code.terms if "::" not in term)
    namespaces = tuple(term for term in context.code.terms if "::" in term)
    end = -1
    for node in unit.nodes("preproc_include", "qualified_identifier"):
        if node.start_byte < end or not unit.is_shared(node.start_byte):
            continue
        if node.type == "preproc_include":
            path = node.child_by_field_name("path")
            name = "" if path is None else unit.slice(path).strip('<>"')
            if any(name == header or (header.endswith("/") and name.startswith(header)) for header in headers):
                yield match_at(unit, node, name=name)
            continue
        text = "".join(unit.head(node).split()).removeprefix("::")
        if text.startswith(namespaces) and not _is_in_other_namespace(node):
            end = node.end_byte
            yield match_at(unit, node, name=text.split("<", 1)[0].split("(", 1)[0])


def _is_in_other_namespace(node: Node) -> bool:
    """Whether another scope precedes the name, as in my::cuda::std."""
    parent = node.parent
    return (
        parent is not None
        and parent.type == "qualified_identifier"
        and parent.child_by_field_name("scope") is not None
        and parent.child_by_field_name("name") == node
    )


detector = Detector(__name__, code="CU207", unit_types=CudaUnit, find=find, prefilter=contains_qualified_name)
