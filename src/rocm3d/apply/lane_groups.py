"""Which lanes a CUDA function means by a warp: groups of 32, or whatever the hardware's wave is.

A function that counts lanes with `warpSize` follows the wave on ROCm, 64 lanes on some targets. One that counts with 32
keeps groups of 32 there: in a wave of 64 each half is a group of its own. A function that does both is for a person.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from rocm3d.apply.rewrite import Refuse
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.lanes import upward

if TYPE_CHECKING:
    from tree_sitter import Node

    from rocm3d.syntax.cuda import CudaUnit

Lanes = Literal["group", "wave"]

_BUILTIN = re.compile(rb"\bwarpSize\b")
# As the width of a shuffle it only says "all of them".
_AS_WIDTH = re.compile(rb",\s*warpSize\s*\)")
_NAMED = re.compile(rb"\b(?!warpSize\b)k?_?(?:\w+_)?warp_?size\b", re.IGNORECASE)
_COUNTS_32 = re.compile(rb"[%/&]\s*(?:32|31|0x1[fF])[uU]?\b|>>\s*5\b|==\s*31\b|\b32\s*-\s*1\b")
_VALUE = rb"(?:#[ \t]*define[ \t]+%s[ \t]+|\b%s\s*=\s*)\(?\s*(\w+)"


def lanes_meant(unit: CudaUnit, node: Node) -> Lanes:
    """What the function around a node counts with; refused where that cannot be told."""
    function = node
    for above, _ in upward(node, unit.parents):
        if above.type == "function_definition":
            function = above
    return lanes_in(unit, function.start_byte, function.end_byte)


def lanes_in(unit: CudaUnit, start: int, end: int) -> Lanes:
    """The same for a part of a file."""
    text = _AS_WIDTH.sub(b"", blanked(unit.data)[start:end])
    by_wave = bool(_BUILTIN.search(text))
    by_32 = bool(_COUNTS_32.search(text))
    for name in {match.group() for match in _NAMED.finditer(text)}:
        value = _value(unit, name)
        by_wave, by_32 = by_wave or value == "wave", by_32 or value == "group"
    if by_wave and by_32:
        raise Refuse("lanes are counted with 32 and with the size of the wave in one function")
    return "wave" if by_wave else "group"


def _value(unit: CudaUnit, name: bytes) -> Lanes:
    values = set(re.findall(_VALUE % (re.escape(name), re.escape(name)), blanked(unit.data)))
    if values == {b"32"}:
        return "group"
    if values and values <= {b"warpSize", b"32", b"64"}:
        return "wave"  # chosen by backend or by target
    raise Refuse(f"{name.decode()} is not set to a number in this file")
