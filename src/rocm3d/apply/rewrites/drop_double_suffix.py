"""Removes gcc's literal suffix d on ROCm: without a suffix the literals are doubles as well. Parameters: guard."""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import Replacement, guard_lines, shared_matches
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit

# Hexadecimal literals do not match: there d is a digit.
_SUFFIXED = re.compile(
    rb"(?<![\w.])((?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)[dD](?![\w.])"
)


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Searches the text: the grammar does not parse such a literal as one."""
    matches = shared_matches(CudaUnit("", data), _SUFFIXED)
    return guard_lines(data, [Replacement(*match.span(), match.group(1)) for match in matches], parameters)
