"""__syncwarp as a wave barrier between fences, where HIP has none of its own or would refuse the mask.

Parameters: call, since (HIP_VERSION of the first HIP that has it), guard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.apply.device_text import text
from rocm3d.apply.guarded_lines import after_includes, insert_guarded
from rocm3d.apply.rewrite import Rewrite
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """One macro above the first call, so that calls in macros are served too; none where the file has its own."""
    name = re.escape(str(parameters["call"]).encode())
    shown, unit = blanked(data), CudaUnit("", data)
    calls = [match for match in re.finditer(rb"\b" + name + rb"\s*\(\s*(\)?)", shown) if unit.is_shared(match.start())]
    if not calls or re.search(rb"#[ \t]*define[ \t]+" + name + rb"\b", shown):
        return data
    macro = text("syncwarp")
    if all(match.group(1) for match in calls):
        # HIP's own does the same; with a mask of 32 bits it does not compile.
        macro = f"#include <hip/hip_version.h>\n#if HIP_VERSION < {parameters['since']}\n{macro}#endif\n"
    return insert_guarded(data, after_includes(data, calls[0].start()), macro.encode(), parameters)


rewrite = Rewrite(__name__, edit)
