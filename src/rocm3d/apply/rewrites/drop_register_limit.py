"""Defines CUDA's register limit attribute as an empty macro on ROCm. Parameters: attribute, guard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.apply.guarded_lines import offset_after_includes, insert_guarded
from rocm3d.apply.rewrite import Rewrite
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Inserts the macro above the first use; skips a file that defines a macro of that name."""
    name = str(parameters["attribute"])
    shown, unit = blanked(data), CudaUnit("", data)
    word = re.escape(name.encode())
    if re.search(rb"#[ \t]*define[ \t]+" + word + rb"\b", shown):
        return data
    uses = (match.start() for match in re.finditer(rb"\b" + word + rb"\s*\(", shown))
    use = next((at for at in uses if unit.is_shared(at)), None)
    if use is None:
        return data
    return insert_guarded(data, offset_after_includes(data, use), f"#define {name}(count)\n".encode(), parameters)


rewrite = Rewrite(__name__, edit)
