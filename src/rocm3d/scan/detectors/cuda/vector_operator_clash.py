"""Custom operators on float3 and similar types, or a custom struct of that name: HIP's vector types define both.

Tested with clang 22 and HIP 7.1 headers: `*`, `/` and the compound assignments of two vectors are ambiguous, but only
if the custom operator is __host__ __device__. Sums, scalar forms, unary minus and __device__ operators win over HIP's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import CONDITIONAL, directives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_VECTOR_BYTES = re.compile(rb"(?:char|short|int|long|float|double)[1-4]\b")
_VECTOR = re.compile(r"u?(?:char|short|int|long|longlong)[1-4]$|(?:float|double)[1-4]$")
_CLASHING = re.compile(r"operator\s*(?:[-+*/]=|[*/])$")
_HOST_AND_DEVICE = re.compile(r"__host__|host_?device|device_?host|\bHD\b|constexpr", re.IGNORECASE)
_COMPILED_AS_HOST = (".cpp", ".cc", ".cxx")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches includes of well-known operator headers, clashing operators, and global structs with HIP's names."""
    is_operator_header = unit.path.rsplit("/", 1)[-1] in context.code.terms  # one finding is enough for such a header
    cpu_only_ranges = _cpu_only_ranges(unit) if b"struct" in unit.data else []
    for node in unit.nodes("preproc_include", "function_definition", "declaration", "struct_specifier"):
        name = _clashing_name(unit, context, node)
        if name is None or not unit.is_shared(node.start_byte):
            continue
        if not (node.type == "struct_specifier" and any(a <= node.start_byte < b for a, b in cpu_only_ranges)):
            yield match_at(unit, node, name=name)
            if is_operator_header:
                return


def _clashing_name(unit: CudaUnit, context: DetectorContext, node: Node) -> str | None:
    if node.type == "preproc_include":
        path = node.child_by_field_name("path")
        header = "" if path is None else unit.slice(path).strip('<>"').rsplit("/", 1)[-1]
        return header if header in context.code.terms else None
    if node.type == "struct_specifier":
        own, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if own is None or body is None or not _VECTOR.match(unit.slice(own)) or _is_nested(node):
            return None
        return f"struct {unit.slice(own)}"
    return _clashing_operator(unit, node)


def _clashing_operator(unit: CudaUnit, node: Node) -> str | None:
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = next(iter(declarator.named_children), None) if declarator.type == "reference_declarator" else None
    own = None if declarator is None else declarator.child_by_field_name("declarator")
    if declarator is None or own is None or own.type != "operator_name" or not _CLASHING.match(unit.slice(own)):
        return None
    listed = declarator.child_by_field_name("parameters")
    kinds = [
        _parameter_type(unit, parameter)
        for parameter in ([] if listed is None else listed.named_children)
        if parameter.type != "comment"
    ]
    if len(kinds) != 2 or kinds[0] != kinds[1] or not _VECTOR.match(kinds[0]):
        return None
    before = unit.data[node.start_byte : declarator.start_byte].decode("utf-8", "replace")
    both = _HOST_AND_DEVICE.search(before) or ("__device__" not in before and unit.path.endswith(_COMPILED_AS_HOST))
    return f"{unit.slice(own)}({kinds[0]}, {kinds[1]})" if both else None


def _parameter_type(unit: CudaUnit, parameter: Node) -> str:
    kind = parameter.child_by_field_name("type")
    return "" if kind is None else unit.slice(kind)


def _is_nested(node: Node) -> bool:
    """Whether the struct is inside a namespace or class, so its name does not clash."""
    parent = node.parent
    while parent is not None:
        if parent.type in ("namespace_definition", "field_declaration_list"):
            return True
        parent = parent.parent
    return False


def _cpu_only_ranges(unit: CudaUnit) -> list[tuple[int, int]]:
    """Byte ranges that are compiled only without CUDA, as in `#ifdef WITH_CUDA ... #else`."""
    stack: list[tuple[bool, bool]] = []  # per open #if: it tests CUDA, the current branch is without CUDA
    ranges: list[tuple[int, int]] = []
    since = 0
    for directive in directives(unit.data):
        if directive.keyword not in CONDITIONAL:
            continue
        if any(is_cuda and without for is_cuda, without in stack):
            ranges.append((since, directive.start))
        since = directive.end
        if directive.keyword in ("if", "ifdef", "ifndef"):
            is_cuda = "CUDA" in directive.argument or "NVCC" in directive.argument
            stack.append((is_cuda, directive.keyword == "ifndef" or directive.argument.startswith("!")))
        elif directive.keyword == "else" and stack:
            stack[-1] = (stack[-1][0], not stack[-1][1])
        elif directive.keyword == "endif" and stack:
            stack.pop()
    return ranges


def _can_match(unit: CudaUnit, context: DetectorContext) -> bool:
    return _VECTOR_BYTES.search(unit.data) is not None or contains_term(unit, context)


detector = Detector(__name__, code="CU304", unit_types=CudaUnit, find=find, prefilter=_can_match)
