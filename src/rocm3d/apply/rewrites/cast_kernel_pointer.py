"""Casts kernels that are passed to attribute calls, as HIP requires. Parameters: calls, guard.

The edit is a guarded copy of the lines or, where that is refused, an alias macro that is empty on CUDA.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm3d.apply.macro_aliases import MacroAlias, guard_or_alias
from rocm3d.apply.rewrite import list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.lane_masks import arguments

_CAST = MacroAlias("KERNEL_CAST", cuda="", rocm="(const void*)")
_KERNEL_NODE_TYPES = frozenset({"identifier", "qualified_identifier", "template_function", "pointer_expression"})
# `kernel<A, B>` parses as comparisons if the grammar does not know the template.
_READ_AS_COMPARISON = "binary_expression"


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Inserts the cast before the first argument if that is the kernel itself, in code and in macros."""
    unit = CudaUnit("", data)
    calls = set(list_parameter(parameters, "calls"))
    offsets = sorted({*_in_code(unit, calls), *_in_macros(unit, calls)})
    return guard_or_alias(data, [(offset, offset) for offset in offsets], _CAST, parameters)


def _in_code(unit: CudaUnit, calls: set[str]) -> Iterator[int]:
    # Variables and parameters that are void pointers already.
    pointers = re.finditer(rb"\bvoid\s*(?:const\s*)?\*\s*(?:const\s+)?(\w+)", blanked(unit.data))
    void_pointers = {match.group(1).decode() for match in pointers}
    for call in unit.nodes("call_expression"):
        function, call_arguments = call.child_by_field_name("function"), arguments(call)
        if (
            function is None
            or unit.head(function) not in calls
            or not call_arguments
            or not unit.is_shared(call.start_byte)
        ):
            continue
        first = call_arguments[0]
        while first.type == "parenthesized_expression" and first.named_child_count == 1:
            first = first.named_children[0]
        is_kernel = first.type in _KERNEL_NODE_TYPES or first.type == _READ_AS_COMPARISON
        offset = call_arguments[0].start_byte
        is_aliased = unit.data[offset:].startswith(_CAST.macro_name.encode())
        if is_kernel and unit.slice(first) not in void_pointers and not is_aliased:
            yield offset


def _in_macros(unit: CudaUnit, calls: set[str]) -> Iterator[int]:
    names = b"|".join(re.escape(name.encode()) for name in sorted(calls))
    pattern = re.compile(rb"\b(?:" + names + rb")\s*\(\s*(?=&?[A-Za-z_])(?!(?:reinterpret|static)_cast\b|ROCM3D_)")
    for node in unit.nodes("preproc_function_def", "preproc_def"):
        if unit.is_shared(node.start_byte):
            for match in pattern.finditer(blanked(unit.data)[node.start_byte : node.end_byte]):
                yield node.start_byte + match.end()
