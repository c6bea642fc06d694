"""Replaces names of Thrust's CUDA backend by those of its HIP backend on ROCm.

Parameters: folder, rocm_folder (of headers), namespace, rocm_namespace, policies (names that both have), guard.
"""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import LineReplacement, replace_lines, shared_includes, shared_matches
from rocm3d.apply.macro_aliases import MacroAlias, guard_or_alias
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits the uses, then the includes, each on freshly parsed text."""
    return _with_edited_includes(_with_edited_uses(data, parameters), parameters)


def _with_edited_uses(data: bytes, parameters: Parameters) -> bytes:
    namespace = str(parameters["namespace"])
    namespace_pattern = r"\s*::\s*".join(map(re.escape, namespace.split("::")))
    pattern = re.compile(rf"(?<![\w:])(?:::\s*)?({namespace_pattern})\s*::\s*(\w+)".encode())
    matches = shared_matches(CudaUnit("", data), pattern)
    unknown = {match.group(2).decode() for match in matches} - set(list_parameter(parameters, "policies"))
    if unknown:
        raise RewriteRefusedError(f"{namespace}::{min(unknown)} is not known to exist in ROCm's backend")
    alias = MacroAlias("THRUST", cuda=namespace, rocm=str(parameters["rocm_namespace"]))
    return guard_or_alias(data, [match.span(1) for match in matches], alias, parameters)


def _with_edited_includes(data: bytes, parameters: Parameters) -> bytes:
    folder, choices = str(parameters["folder"]), []
    for directive, header in shared_includes(CudaUnit("", data)):
        if header.startswith(folder):
            line = data[directive.start : directive.end].decode("utf-8", "surrogateescape").replace("\r\n", "\n")
            choices.append(
                LineReplacement(directive.start, directive.end, line.replace(folder, str(parameters["rocm_folder"]), 1))
            )
    return replace_lines(data, choices, parameters)
