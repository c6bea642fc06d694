"""A tree-sitter parse with limits on time and memory.

Error recovery is quadratic on hostile text (hours for one file), and ambiguous text takes kilobytes of memory per byte.
The parse is stopped in the callback that supplies the text, because the progress callback crashes in tree-sitter 0.26.
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

SMALL = 16_384  # bytes; below this even the worst text takes only seconds
SECONDS = 10.0
SECONDS_PER_BYTE = 5e-6  # ordinary code takes less than a fifth of that
MAX_MEMORY = 1 << 30  # peak bytes of this process
_PIECE = 4096  # bytes; longer than any character


def bounded_parse(language: Language, data: bytes) -> Tree | None:
    """The syntax tree, or None if the parse exceeded the limit on CPU time or memory."""
    if len(data) <= SMALL:
        return Parser(language).parse(data)
    deadline, max_memory = thread_time() + SECONDS + SECONDS_PER_BYTE * len(data), max(MAX_MEMORY, peak_memory())
    limit_exceeded = False

    def read_chunk(offset: int, _: Point) -> bytes:
        nonlocal limit_exceeded
        limit_exceeded = limit_exceeded or thread_time() > deadline or peak_memory() > max_memory
        return b"" if limit_exceeded else data[offset : offset + _PIECE]

    tree = Parser(language).parse(read_chunk)
    return None if limit_exceeded else tree


def peak_memory() -> int:
    """Peak memory of this process in bytes; 0 where the platform does not report it."""
    if sys.platform == "win32":
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
