"""Replaces names of Thrust's CUDA backend by those of its HIP backend on ROCm.

Parameters: folder, rocm_folder (of headers), namespace, rocm_namespace, policies (names that both have), guard.
"""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import LineReplacement, Replacement, guard_lines, replace_lines
from rocm3d.apply.macro_aliases import AliasUse, MacroAlias, insert_aliases
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked, directives


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits the uses, then the includes, each on freshly parsed text."""
    return _with_edited_includes(_with_edited_uses(data, parameters), parameters)


def _with_edited_uses(data: bytes, parameters: Parameters) -> bytes:
    unit, namespace = CudaUnit("", data), str(parameters["namespace"])
    namespace_pattern = r"\s*::\s*".join(map(re.escape, namespace.split("::")))
    pattern = re.compile(rf"(?<![\w:])(?:::\s*)?({namespace_pattern})\s*::\s*(\w+)".encode())
    matches = [match for match in pattern.finditer(blanked(data)) if unit.is_shared(match.start())]
    unknown = {match.group(2).decode() for match in matches} - set(list_parameter(parameters, "policies"))
    if unknown:
        raise RewriteRefusedError(f"{namespace}::{min(unknown)} is not known to exist in ROCm's backend")
    rocm = str(parameters["rocm_namespace"])
    try:
        replacements = [Replacement(match.start(1), match.end(1), rocm.encode()) for match in matches]
        return guard_lines(data, replacements, parameters)
    except RewriteRefusedError:
        alias = MacroAlias("THRUST", cuda=namespace, rocm=rocm)
        return insert_aliases(data, [AliasUse(match.start(1), match.end(1), alias) for match in matches], parameters)


def _with_edited_includes(data: bytes, parameters: Parameters) -> bytes:
    unit, folder = CudaUnit("", data), str(parameters["folder"])
    choices = []
    for directive in directives(data):
        if (
            directive.keyword == "include"
            and directive.argument.strip('<>"').startswith(folder)
            and unit.is_shared(directive.start)
        ):
            line = data[directive.start : directive.end].decode("utf-8", "surrogateescape").replace("\r\n", "\n")
            choices.append(
                LineReplacement(directive.start, directive.end, line.replace(folder, str(parameters["rocm_folder"]), 1))
            )
    return replace_lines(data, choices, parameters)
