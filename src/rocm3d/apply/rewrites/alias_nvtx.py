"""Maps nvtx ranges to roctx on ROCm: includes its header and defines macros for the calls.

Parameters: headers, instead (ROCm's header), prefix, rocm_prefix, names (without the prefix), guard.
"""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import LineReplacement, replace_lines, shared_includes, without_includes
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Defines the macros at the first include; a file that uses other nvtx names is refused."""
    headers = list_parameter(parameters, "headers")
    edited_includes = [directive for directive, header in shared_includes(CudaUnit("", data)) if header in headers]
    if not edited_includes:
        return data
    prefix, known_names = str(parameters["prefix"]), list_parameter(parameters, "names")
    used = dict.fromkeys(
        match.group(1).decode() for match in re.finditer(rf"\b{prefix}(\w+)".encode(), without_includes(data))
    )
    unknown = [f"{prefix}{name}" for name in used if name not in known_names]
    if unknown:
        raise RewriteRefusedError(f"no counterpart on ROCm is known for {', '.join(sorted(unknown))}")
    defines = "".join(
        f"#define {prefix}{name} {parameters['rocm_prefix']}{name}\n" for name in known_names if name in used
    )
    rocm_lines = f"#include <{parameters['instead']}>\n{defines}"
    choices = [
        LineReplacement(directive.start, directive.end, rocm_lines if index == 0 else None)
        for index, directive in enumerate(edited_includes)
    ]
    return replace_lines(data, choices, parameters)
