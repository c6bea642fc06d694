"""Defines CUDA's register limit attribute as an empty macro on ROCm. Parameters: attribute, guard."""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import insert_guarded, offset_after_includes
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Inserts the macro above the first use; skips a file that defines a macro of that name."""
    name = str(parameters["attribute"])
    code, unit = blanked(data), CudaUnit("", data)
    escaped_name = re.escape(name.encode())
    if re.search(rb"#[ \t]*define[ \t]+" + escaped_name + rb"\b", code):
        return data
    uses = (match.start() for match in re.finditer(rb"\b" + escaped_name + rb"\s*\(", code))
    first_use = next((offset for offset in uses if unit.is_shared(offset)), None)
    if first_use is None:
        return data
    return insert_guarded(data, offset_after_includes(data, first_use), f"#define {name}(count)\n".encode(), parameters)
