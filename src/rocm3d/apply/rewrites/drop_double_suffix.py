"""Removes gcc's literal suffix d on ROCm: without a suffix the literals are doubles as well. Parameters: guard."""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import Replacement, guard_lines
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

# Hexadecimal literals do not match: there d is a digit.
_SUFFIXED = re.compile(
    rb"(?<![\w.])((?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)[dD](?![\w.])"
)


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Searches the text: the grammar does not parse such a literal as one."""
    unit = CudaUnit("", data)
    replacements = [
        Replacement(match.start(), match.end(), match.group(1))
        for match in _SUFFIXED.finditer(blanked(data))
        if unit.is_shared(match.start())
    ]
    return guard_lines(data, replacements, parameters)
