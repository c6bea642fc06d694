"""Maps nvtx ranges to roctx on ROCm: includes its header and defines macros for the calls.

Parameters: headers, instead (ROCm's header), prefix, rocm_prefix, names (without the prefix), guard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.apply.guarded_lines import LineReplacement, replace_lines
from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive, blanked, directives

if TYPE_CHECKING:
    from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Defines the macros at the first include; a file that uses other nvtx names is refused."""
    unit, headers = CudaUnit("", data), set(list_parameter(parameters, "headers"))
    found = [item for item in directives(data) if _names(item, headers) and unit.is_shared(item.start)]
    if not found:
        return data
    prefix, known = str(parameters["prefix"]), list_parameter(parameters, "names")
    used = dict.fromkeys(
        match.group(1).decode() for match in re.finditer(rf"\b{prefix}(\w+)".encode(), _code(data)) if match
    )
    unknown = [f"{prefix}{name}" for name in used if name not in known]
    if unknown:
        raise RewriteRefusedError(f"no counterpart on ROCm is known for {', '.join(sorted(unknown))}")
    defines = "".join(f"#define {prefix}{name} {parameters['rocm_prefix']}{name}\n" for name in known if name in used)
    first = f"#include <{parameters['instead']}>\n{defines}"
    chosen = [LineReplacement(item.start, item.end, first if index == 0 else None) for index, item in enumerate(found)]
    return replace_lines(data, chosen, parameters)


def _names(item: Directive, headers: set[str]) -> bool:
    return item.keyword == "include" and item.argument.strip('<>"') in headers


def _code(data: bytes) -> bytes:
    """The file with comments, strings and includes blanked; offsets stay."""
    text = bytearray(blanked(data))
    for item in directives(data):
        if item.keyword == "include":
            text[item.start : item.end] = b" " * (item.end - item.start)
    return bytes(text)


rewrite = Rewrite(__name__, edit)
