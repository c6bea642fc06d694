"""A grid-wide barrier: it needs a cooperative launch and a grid that fits on the GPU at once.

`this_grid().thread_rank()`, the usual global thread index, is not a barrier and works unchanged in HIP.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


_GRID = re.compile(r"(?:\b\w+::)*this_grid\s*\(\s*\)$")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches `.sync()` on this_grid(), or on a variable that is initialised with it or declared as grid_group."""
    grids = set(_grid_variables(unit))
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        if function is None or function.type != "field_expression" or not unit.is_shared(call.start_byte):
            continue
        owner, field = function.child_by_field_name("argument"), function.child_by_field_name("field")
        if owner is None or field is None or unit.slice(field) != "sync":
            continue
        text = unit.slice(owner)
        if text in grids or _GRID.search(text):
            yield match_at(unit, call, call=f"{text}.sync()")


def _grid_variables(unit: CudaUnit) -> Iterator[str]:
    """Names of variables and parameters that hold a grid group."""
    for node in unit.nodes("declaration", "parameter_declaration"):
        kind, name = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        value = name.child_by_field_name("value") if name is not None and name.type == "init_declarator" else None
        while name is not None and name.type in ("init_declarator", "reference_declarator", "pointer_declarator"):
            inner = name.child_by_field_name("declarator")
            name = inner if inner is not None else next(iter(name.named_children), None)
        is_grid = value is not None and _GRID.search(unit.head(value))
        if name is not None and (is_grid or (kind is not None and unit.slice(kind).endswith("grid_group"))):
            yield unit.slice(name)


detector = Detector(__name__, code="CU204", unit_types=CudaUnit, find=find, prefilter=(b"this_grid", b"grid_group"))
