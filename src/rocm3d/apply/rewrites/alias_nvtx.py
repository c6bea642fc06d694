"""Maps nvtx ranges to roctx on ROCm: includes its header and defines macros for the calls.

Parameters: headers, instead (ROCm's header), prefix, rocm_prefix, names (without the prefix), guard.
"""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import LineReplacement, replace_lines
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive, blanked, directives


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Defines the macros at the first include; a file that uses other nvtx names is refused."""
    unit, headers = CudaUnit("", data), set(list_parameter(parameters, "headers"))
    includes = [
        directive
        for directive in directives(data)
        if _is_include_of(directive, headers) and unit.is_shared(directive.start)
    ]
    if not includes:
        return data
    prefix, known_names = str(parameters["prefix"]), list_parameter(parameters, "names")
    used = dict.fromkeys(
        match.group(1).decode()
        for match in re.finditer(rf"\b{prefix}(\w+)".encode(), _code_without_includes(data))
        if match
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
        for index, directive in enumerate(includes)
    ]
    return replace_lines(data, choices, parameters)


def _is_include_of(directive: Directive, headers: set[str]) -> bool:
    return directive.keyword == "include" and directive.argument.strip('<>"') in headers


def _code_without_includes(data: bytes) -> bytes:
    """The file with comments, strings and includes blanked; offsets stay."""
    text = bytearray(blanked(data))
    for directive in directives(data):
        if directive.keyword == "include":
            text[directive.start : directive.end] = b" " * (directive.end - directive.start)
    return bytes(text)
