"""Defines `__syncwarp` as a wave barrier between fences, if HIP lacks it or rejects the mask.

Parameters: call, since (first HIP_VERSION that has it), guard.
"""

from __future__ import annotations

import re

from rocm3d.apply.device_helpers import read_helper
from rocm3d.apply.guarded_lines import insert_guarded, offset_after_includes
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Inserts a macro above the first call, so that calls in macros use it too; skips a file that defines its own."""
    name = re.escape(str(parameters["call"]).encode())
    code, unit = blanked(data), CudaUnit("", data)
    calls = [match for match in re.finditer(rb"\b" + name + rb"\s*\(\s*(\)?)", code) if unit.is_shared(match.start())]
    if not calls or re.search(rb"#[ \t]*define[ \t]+" + name + rb"\b", code):
        return data
    macro = read_helper("syncwarp")
    if all(match.group(1) for match in calls):
        # HIP's own function does the same without a mask; with a 32-bit mask it does not compile.
        macro = f"#include <hip/hip_version.h>\n#if HIP_VERSION < {parameters['since']}\n{macro}#endif\n"
    return insert_guarded(data, offset_after_includes(data, calls[0].start()), macro.encode(), parameters)
