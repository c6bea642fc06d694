"""Packed half intrinsics that hip_fp16.h lacks. The code's terms list them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches calls among the code's terms, unless the file defines the name."""
    own = set(_defined_names(unit))
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        if function is None or not unit.is_shared(call.start_byte):
            continue
        name = unit.head(function).removeprefix("::")
        if name in context.code.terms and name not in own:
            yield match_at(unit, call, name=name, why=context.code.terms[name])


def _defined_names(unit: CudaUnit) -> Iterator[str]:
    for node in unit.nodes("function_declarator", "preproc_def", "preproc_function_def"):
        name = node.child_by_field_name("declarator" if node.type == "function_declarator" else "name")
        if name is not None:
            yield unit.slice(name)


detector = Detector(__name__, code="CU307", unit_types=CudaUnit, find=find, prefilter=contains_term)
