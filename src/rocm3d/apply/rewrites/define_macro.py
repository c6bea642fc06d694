"""Defines a macro for calls of a name that HIP lacks, unless the file defines its own.

Parameters: call, define (the definition) or helper (a file of device/ with it), guard, and since: the first HIP_VERSION
that has the function itself, for calls without arguments.
"""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import find_definition, insert_guarded, read_helper, shared_matches
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Inserts the macro above the first call, so that calls in macros use it too."""
    name = str(parameters["call"])
    calls = shared_matches(CudaUnit("", data), re.compile(rf"\b{re.escape(name)}\s*\(\s*(\)?)".encode()))
    if not calls or find_definition(blanked(data), name):
        return data
    macro = read_helper(str(parameters["helper"])) if "helper" in parameters else f"{parameters['define']}\n"
    if "since" in parameters and all(match.group(1) for match in calls):
        # HIP's own function does the same without a mask; with a 32-bit mask it does not compile.
        macro = f"#include <hip/hip_version.h>\n#if HIP_VERSION < {parameters['since']}\n{macro}#endif\n"
    return insert_guarded(data, macro, parameters, calls[0].start())
