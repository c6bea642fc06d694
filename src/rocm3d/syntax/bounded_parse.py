"""A parse that ends. Recovery from errors takes the square of hostile text in time, hours for one file, and text that
may be read in several ways takes kilobytes of memory for each byte.

tree-sitter asks for the text piece by piece, which is where it can be stopped: its progress callback crashes in 0.26.
"""

from __future__ import annotations

import sys
from time import thread_time
from typing import TYPE_CHECKING

from tree_sitter import Language, Parser

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from tree_sitter import Point, Tree

SMALL = 16_384  # bytes: below, the worst text takes some seconds
SECONDS = 10.0
SECONDS_PER_BYTE = 5e-6  # ordinary code takes less than a fifth of that
MEMORY = 1 << 30  # bytes of this process at its peak
_PIECE = 4096  # holds any character whole


def bounded_parse(language: Language, data: bytes) -> Tree | None:
    """The syntax tree; None where it took too much of the processor's time, or of memory."""
    if len(data) <= SMALL:
        return Parser(language).parse(data)
    end, most = thread_time() + SECONDS + SECONDS_PER_BYTE * len(data), max(MEMORY, peak_memory())
    too_much = False

    def piece(offset: int, _: Point) -> bytes:
        nonlocal too_much
        too_much = too_much or thread_time() > end or peak_memory() > most
        return b"" if too_much else data[offset : offset + _PIECE]

    tree = Parser(language).parse(piece)
    return None if too_much else tree


def peak_memory() -> int:
    """The most bytes that this process has held; 0 where nobody says."""
    if sys.platform == "win32":
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
