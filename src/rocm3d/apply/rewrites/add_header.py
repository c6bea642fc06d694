"""Adds a guarded include on ROCm if a file uses a header's names without including it.

Parameters: header, names, also_given_by (other headers that include it, or prefixes of their paths), guard.
"""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import includes, insert_guarded, shared_matches
from rocm3d.apply.rewrite import list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Inserts one guarded include after the others, above the first use that both builds see."""
    header = str(parameters["header"])
    sufficient_headers = (header, *list_parameter(parameters, "also_given_by"))
    names = "|".join(map(re.escape, list_parameter(parameters, "names")))
    uses = shared_matches(CudaUnit("", data), re.compile(rf"\b(?:{names})\b".encode()))
    if not uses or any(name.startswith(sufficient_headers) for _, name in includes(data)):
        return data
    return insert_guarded(data, f"#include <{header}>\n", parameters, uses[0].start())
