"""What nvcc lets pass and clang does not: a limit of <cfloat> without its include, and .at() in device code.

nvcc's own headers bring <cfloat> along, HIP's do not. Only a file that takes nothing from torch is reported, because
torch's headers include it; one finding for a file. The checked access of std::array throws, which is host code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lanes import arguments
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_DEVICE = re.compile(rb"\b__(?:device|global)__\b")


def find(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """The first name of <cfloat>, and checked accesses in functions for the device."""
    yield from _limits(unit, look)
    yield from _checked(unit, look)


def _limits(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """The first use of a name that the code's terms give to <cfloat>."""
    paths = (include.child_by_field_name("path") for include in unit.nodes("preproc_include"))
    headers = [unit.slice(path).strip('<>"') for path in paths if path is not None]
    enough = tuple(term for term, why in look.code.terms.items() if why == "brings <cfloat> along")
    alone = any(header.startswith("cuda_runtime") for header in headers)
    if not alone or any(header.startswith(enough) for header in headers):
        return  # without cuda_runtime.h it is part of another file, and what stands before it is not known
    for node in unit.nodes("identifier"):
        name = unit.slice(node)
        why = look.code.terms.get(name, "")
        if why == "include <cfloat>" and unit.is_shared(node.start_byte):
            yield hit(unit, node, text=name, why=why)
            return


def _checked(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """The first `x.at(i)` of each line in a function whose head says __device__ or __global__."""
    if b".at(" not in unit.data:
        return
    lines: set[int] = set()
    for function in unit.nodes("function_definition"):
        body = function.child_by_field_name("body")
        if body is None or not _DEVICE.search(unit.data, function.start_byte, body.start_byte):
            continue
        for call in (node for node in walk(body) if node.type == "call_expression" and len(arguments(node)) == 1):
            found = hit(unit, call, text=unit.slice(call), why=look.code.terms["std::array::at"])
            if _is_at(unit, call) and unit.is_shared(call.start_byte) and found.line not in lines:
                lines.add(found.line)
                yield found


def _is_at(unit: CudaUnit, call: Node) -> bool:
    function = call.child_by_field_name("function")
    field = None if function is None or function.type != "field_expression" else function.child_by_field_name("field")
    # Others index their tuples by types: x.at(number<0>{}).
    return field is not None and unit.slice(field) == "at" and "{" not in unit.slice(arguments(call)[0])


detector = Detector(__name__, code="CU311", reads=CudaUnit, find=find, needs=(b"cuda_runtime", b".at("))
