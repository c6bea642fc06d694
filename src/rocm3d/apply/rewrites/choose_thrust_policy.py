"""Replaces names of Thrust's CUDA backend by those of its HIP backend on ROCm.

Parameters: folder, rocm_folder (of headers), namespace, rocm_namespace, policies (names that both have), guard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.apply.aliased_text import MacroAlias, AliasUse, insert_aliases
from rocm3d.apply.guarded_lines import LineReplacement, Replacement, replace_lines, guard_lines
from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked, directives

if TYPE_CHECKING:
    from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits the uses, then the includes, each on freshly parsed text."""
    return _includes(_uses(data, parameters), parameters)


def _uses(data: bytes, parameters: Parameters) -> bytes:
    unit, namespace = CudaUnit("", data), str(parameters["namespace"])
    spelt = r"\s*::\s*".join(map(re.escape, namespace.split("::")))
    name = re.compile(rf"(?<![\w:])(?:::\s*)?({spelt})\s*::\s*(\w+)".encode())
    found = [match for match in name.finditer(blanked(data)) if unit.is_shared(match.start())]
    unknown = {match.group(2).decode() for match in found} - set(list_parameter(parameters, "policies"))
    if unknown:
        raise RewriteRefusedError(f"{namespace}::{min(unknown)} is not known to exist in ROCm's backend")
    rocm = str(parameters["rocm_namespace"])
    try:
        places = [Replacement(match.start(1), match.end(1), rocm.encode()) for match in found]
        return guard_lines(data, places, parameters)
    except RewriteRefusedError:
        alias = MacroAlias("THRUST", cuda=namespace, rocm=rocm)
        return insert_aliases(data, [AliasUse(match.start(1), match.end(1), alias) for match in found], parameters)


def _includes(data: bytes, parameters: Parameters) -> bytes:
    unit, folder = CudaUnit("", data), str(parameters["folder"])
    chosen = []
    for item in directives(data):
        if item.keyword == "include" and item.argument.strip('<>"').startswith(folder) and unit.is_shared(item.start):
            line = data[item.start : item.end].decode("utf-8", "surrogateescape").replace("\r\n", "\n")
            chosen.append(LineReplacement(item.start, item.end, line.replace(folder, str(parameters["rocm_folder"]), 1)))
    return replace_lines(data, chosen, parameters)


rewrite = Rewrite(__name__, edit)
