"""Literals with gcc's suffix d lose it on ROCm: without one they are doubles as well. Parameters: guard."""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import Replacement, guard_lines
from rocm3d.apply.rewrite import Rewrite
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

# Not hexadecimal: there d is a digit.
_SUFFIXED = re.compile(
    rb"(?<![\w.])((?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)[dD](?![\w.])"
)


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Found in the text: the grammar takes such a literal for something else."""
    unit = CudaUnit("", data)
    found = [
        Replacement(match.start(), match.end(), match.group(1))
        for match in _SUFFIXED.finditer(blanked(data))
        if unit.is_shared(match.start())
    ]
    return guard_lines(data, found, parameters)


rewrite = Rewrite(__name__, edit)
