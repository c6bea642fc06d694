"""A full lane mask of 32 bits in a `*_sync` intrinsic: HIP asserts a 64-bit mask type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_INTRINSIC = re.compile(r"__(shfl|ballot|any|all|match_any|match_all|reduce)\w*_sync$")
_FULL_32 = re.compile(r"\(?\s*0x[fF]{8}[uU]?\s*\)?$")


def find(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """Calls whose mask is 0xffffffff, spelled out or by a macro of the same file."""
    macros = _full_mask_macros(unit)
    for call in unit.nodes("call_expression"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        given = [] if arguments is None else [item for item in arguments.named_children if item.type != "comment"]
        if function is None or not given:
            continue
        if not _INTRINSIC.match(unit.slice(function)) or not unit.is_shared(call.start_byte):
            continue
        mask = unit.slice(given[0])
        if _FULL_32.match(mask) or mask in macros:
            yield hit(unit, given[0], mask=mask, call=unit.slice(function))


def _full_mask_macros(unit: CudaUnit) -> set[str]:
    found = set()
    for define in unit.nodes("preproc_def"):
        name, text = define.child_by_field_name("name"), define.child_by_field_name("value")
        if name is None or text is None or not unit.is_shared(define.start_byte):
            continue
        if _FULL_32.match(unit.slice(text).split("//")[0].strip()):
            found.add(unit.slice(name))
    return found


detector = Detector(__name__, code="CU101", reads=CudaUnit, find=find)
