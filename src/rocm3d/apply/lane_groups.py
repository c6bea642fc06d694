"""Whether a CUDA function works on groups of 32 lanes or on the hardware's wave.

A function that counts lanes with `warpSize` follows the wave on ROCm, 64 lanes on some targets. One that counts with 32
keeps groups of 32 there: a wave of 64 contains two groups. A function that does both needs a manual edit.
"""

from __future__ import annotations

import re
from typing import Literal

from tree_sitter import Node

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.lane_masks import ancestors_with_child

Lanes = Literal["group", "wave"]

_BUILTIN = re.compile(rb"\bwarpSize\b")
# As the width of a shuffle, warpSize only means "all lanes".
_AS_WIDTH = re.compile(rb",\s*warpSize\s*\)")
_NAMED = re.compile(rb"\b(?!warpSize\b)k?_?(?:\w+_)?warp_?size\b", re.IGNORECASE)
_COUNTS_32 = re.compile(rb"[%/&]\s*(?:32|31|0x1[fF])[uU]?\b|>>\s*5\b|==\s*31\b|\b32\s*-\s*1\b")
_VALUE = rb"(?:#[ \t]*define[ \t]+%s[ \t]+|\b%s\s*=\s*)\(?\s*(\w+)"


def lanes_of_function(unit: CudaUnit, node: Node) -> Lanes:
    """What the function that contains the node counts with; raises RewriteRefusedError if that is ambiguous."""
    function = node
    for ancestor, _ in ancestors_with_child(node, unit.parents):
        if ancestor.type == "function_definition":
            function = ancestor
    return lanes_in_range(unit, function.start_byte, function.end_byte)


def lanes_in_range(unit: CudaUnit, start: int, end: int) -> Lanes:
    """The same for bytes [start, end) of the file."""
    text = _AS_WIDTH.sub(b"", blanked(unit.data)[start:end])
    by_wave = bool(_BUILTIN.search(text))
    by_32 = bool(_COUNTS_32.search(text))
    for name in {match.group() for match in _NAMED.finditer(text)}:
        value = _lanes_of_constant(unit, name)
        by_wave, by_32 = by_wave or value == "wave", by_32 or value == "group"
    if by_wave and by_32:
        raise RewriteRefusedError("one function counts lanes both with 32 and with the wave size")
    return "wave" if by_wave else "group"


def _lanes_of_constant(unit: CudaUnit, name: bytes) -> Lanes:
    values = set(re.findall(_VALUE % (re.escape(name), re.escape(name)), blanked(unit.data)))
    if values == {b"32"}:
        return "group"
    if values and values <= {b"warpSize", b"32", b"64"}:
        return "wave"  # the value depends on the backend or the target
    raise RewriteRefusedError(f"the value of {name.decode()} is not in this file")
