"""Code that nvcc accepts and clang rejects: a <cfloat> limit without its include, and .at() in device code.

nvcc's headers include <cfloat>, HIP's do not. Files that include torch headers are not reported, because those include
it. There is one finding per file. std::array::at throws, which only host code can do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import arguments
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_DEVICE_QUALIFIER = re.compile(rb"\b__(?:device|global)__\b")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    yield from _missing_cfloat(unit, context)
    yield from _checked_access(unit, context)


def _missing_cfloat(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first use of a <cfloat> name among the code's terms."""
    paths = (include.child_by_field_name("path") for include in unit.nodes("preproc_include"))
    headers = [unit.slice(path).strip('<>"') for path in paths if path is not None]
    sufficient_headers = tuple(term for term, why in context.code.terms.items() if why == "brings <cfloat> along")
    is_standalone = any(header.startswith("cuda_runtime") for header in headers)
    if not is_standalone or any(header.startswith(sufficient_headers) for header in headers):
        return  # without cuda_runtime.h another file includes this one, and its earlier includes are not known
    for node in unit.nodes("identifier"):
        name = unit.slice(node)
        why = context.code.terms.get(name, "")
        if why == "include <cfloat>" and unit.is_shared(node.start_byte):
            yield match_at(unit, node, text=name, why=why)
            return


def _checked_access(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first `x.at(i)` of each line in __device__ and __global__ functions."""
    if b".at(" not in unit.data:
        return
    lines: set[int] = set()
    for function in unit.nodes("function_definition"):
        body = function.child_by_field_name("body")
        if body is None or not _DEVICE_QUALIFIER.search(unit.data, function.start_byte, body.start_byte):
            continue
        for call in (node for node in walk(body) if node.type == "call_expression" and len(arguments(node)) == 1):
            match = match_at(unit, call, text=unit.slice(call), why=context.code.terms["std::array::at"])
            if _is_at_call(unit, call) and unit.is_shared(call.start_byte) and match.line not in lines:
                lines.add(match.line)
                yield match


def _is_at_call(unit: CudaUnit, call: Node) -> bool:
    function = call.child_by_field_name("function")
    field = None if function is None or function.type != "field_expression" else function.child_by_field_name("field")
    # x.at(number<0>{}) indexes a tuple by type and is not std::array::at.
    return field is not None and unit.slice(field) == "at" and "{" not in unit.slice(arguments(call)[0])


detector = Detector(__name__, code="CU311", unit_types=CudaUnit, find=find, prefilter=(b"cuda_runtime", b".at("))
