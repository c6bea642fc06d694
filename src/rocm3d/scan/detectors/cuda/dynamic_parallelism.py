"""A kernel launched from device code: HIP has no dynamic parallelism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_launch, contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches launches in device-only functions, and the streams that exist only for such launches."""
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        launches = any(child.type == "kernel_call_syntax" for child in call.named_children)
        if launches and function is not None and _is_on_device(call) and unit.is_shared(call.start_byte):
            yield match_at(unit, call, kernel=unit.head(function).split("<", 1)[0].strip())
    for name in unit.nodes("identifier"):
        # A stream inside a launch is part of the finding of that launch.
        if unit.slice(name) in context.code.terms and unit.is_shared(name.start_byte) and not _is_in_launch(name):
            yield match_at(unit, name, kernel=f"a kernel on {unit.slice(name)}")


def _is_on_device(node: Node) -> bool:
    """Whether the enclosing function is device-only. A __host__ __device__ function may launch on the host."""
    above = node.parent
    while above is not None and above.type not in ("function_definition", "lambda_expression"):
        above = above.parent
    kinds = set() if above is None else {child.type for child in above.children}
    return bool(kinds & {"__global__", "__device__"}) and "__host__" not in kinds


def _is_in_launch(node: Node) -> bool:
    above = node.parent
    while above is not None and above.type != "kernel_call_syntax":
        above = above.parent
    return above is not None and _is_on_device(node)


def _can_match(unit: CudaUnit, context: DetectorContext) -> bool:
    device = b"__global__" in unit.data or b"__device__" in unit.data
    return (device and contains_launch(unit, context)) or contains_term(unit, context)


detector = Detector(__name__, code="CU405", unit_types=CudaUnit, find=find, prefilter=_can_match)
