"""A source file that is parsed once for all detectors, with limits on time and memory.

Error recovery is quadratic on hostile text (hours for one file), and ambiguous text takes kilobytes of memory per byte.
The parse is stopped in the callback that supplies the text, because the progress callback crashes in tree-sitter 0.26.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from time import thread_time
from typing import ClassVar

from tree_sitter import Language, Node, Parser, Point, Tree

from rocm3d.model.text import Text

if sys.platform != "win32":
    import resource

NodesByType = dict[str, list[tuple[int, Node]]]
"""Nodes of each type with their index in source order."""

SMALL = 16_384  # bytes; below this even the worst text takes only seconds
SECONDS = 10.0
SECONDS_PER_BYTE = 5e-6  # ordinary code takes less than a fifth of that
MAX_MEMORY = 1 << 30  # peak bytes of this process
MAX_GROWTH = 1 << 28  # bytes; a process that already is that large may still parse ordinary files
_PIECE = 4096  # bytes; longer than any character
_MAX_NAME_BYTES = 1024
_MAX_DEPTH = 1000  # levels of nodes; the maximum seen in hand-written code is 526


@dataclass(frozen=True)
class ParsedUnit:
    """One file in the language of the subclass. Invalid code gives error nodes, never an exception."""

    path: str
    data: bytes
    language: ClassVar[Language]

    @cached_property
    def text(self) -> Text:
        return Text(self.data)

    @property
    def source(self) -> bytes:
        """The bytes to parse; offsets are those of the file."""
        return self.data

    @cached_property
    def tree(self) -> Tree:
        """The syntax tree; empty if the parse exceeded its limits."""
        return self._parsed or Parser(self.language).parse(b"")

    @cached_property
    def _parsed(self) -> Tree | None:
        return bounded_parse(self.language, self.source)

    @property
    def has_exceeded_limits(self) -> bool:
        """Whether a parse was started and exceeded its time or memory limit."""
        return "_parsed" in self.__dict__ and self._parsed is None

    @property
    def skip_reason(self) -> str:
        """Which part of the syntax was not scanned, and why; empty if all of it was."""
        if self.has_exceeded_limits:
            return "exceeds the time or memory limit of the parser, so its syntax was not scanned"
        too_deep = "_walked" in self.__dict__ and self._walked[1]
        return f"nests deeper than {_MAX_DEPTH} levels, so its innermost parts were not scanned" if too_deep else ""

    def nodes(self, *kinds: str) -> Iterator[Node]:
        """All nodes of these types, in source order."""
        nodes_by_type, _ = self._walked
        if len(kinds) == 1:
            return (node for _, node in nodes_by_type.get(kinds[0], ()))
        chosen = (indexed_node for kind in kinds for indexed_node in nodes_by_type.get(kind, ()))
        return (node for _, node in sorted(chosen, key=lambda indexed_node: indexed_node[0]))

    @cached_property
    def _walked(self) -> tuple[NodesByType, bool]:
        """The nodes by type, and whether some are too deep: in `f()()()...` each call contains all text before it."""
        # One walk with a cursor: creating node objects dominates, so each is created once.
        nodes: NodesByType = defaultdict(list)
        cursor, index, depth, too_deep = self.tree.walk(), 0, 0, False
        while True:
            node = cursor.node
            if node is not None and node.is_named:
                nodes[node.type].append((index, node))
                index += 1
            if depth < _MAX_DEPTH and cursor.goto_first_child():
                depth += 1
                continue
            too_deep = too_deep or (depth == _MAX_DEPTH and node is not None and node.child_count > 0)
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return dict(nodes), too_deep
                depth -= 1

    @cached_property
    def parents(self) -> dict[int, Node]:
        """The parent of every named node, by id: Node.parent of tree-sitter takes time proportional to the depth."""
        parent_by_id: dict[int, Node] = {}
        stack = [self.tree.root_node]
        while stack:
            node = stack.pop()
            children = node.named_children
            parent_by_id.update((child.id, node) for child in children)
            stack += children
        return parent_by_id

    def slice(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def head(self, node: Node) -> str:
        """The first 1024 bytes of a node, enough for a name; reading all of `f(1)(1)(1)...` is quadratic."""
        end = min(node.end_byte, node.start_byte + _MAX_NAME_BYTES)
        return self.data[node.start_byte : end].decode("utf-8", "replace")

    def tail(self, node: Node) -> str:
        """The last 1024 bytes of a node: the last name of `a.b.c` identifies the called function."""
        start = max(node.start_byte, node.end_byte - _MAX_NAME_BYTES)
        return self.data[start : node.end_byte].decode("utf-8", "replace")


def walk(root: Node) -> Iterator[Node]:
    """A node and all named nodes below it in source order; not recursive, because hostile files nest deeply."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.named_children))


def bounded_parse(language: Language, data: bytes) -> Tree | None:
    """The syntax tree, or None if the parse exceeded the limit on CPU time or memory."""
    if len(data) <= SMALL:
        return Parser(language).parse(data)
    deadline = thread_time() + SECONDS + SECONDS_PER_BYTE * len(data)
    max_memory = max(MAX_MEMORY, peak_memory() + MAX_GROWTH)
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
