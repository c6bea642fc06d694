"""A C++/CUDA file, parsed once for all detectors."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Tree

from rocm3d.model.text import Text
from rocm3d.syntax.guards import shared_ranges

SUFFIXES = frozenset({".cu", ".cuh", ".h", ".hpp", ".hh", ".cpp", ".cc", ".cxx", ".inl"})

_LANGUAGE = Language(tree_sitter_cuda.language())


@dataclass(frozen=True)
class CudaUnit:
    """One file; nodes come with byte offsets, `text` turns them into lines and columns."""

    path: str
    data: bytes

    @cached_property
    def text(self) -> Text:
        """Lines and columns."""
        return Text(self.data)

    @cached_property
    def tree(self) -> Tree:
        """The syntax tree; broken code gives error nodes, never an exception."""
        return Parser(_LANGUAGE).parse(self.data)

    def nodes(self, *kinds: str) -> Iterator[Node]:
        """All nodes of these kinds, in source order."""
        return of_kinds(self._by_kind, kinds)

    @cached_property
    def _by_kind(self) -> NodesByKind:
        return by_kind(self.tree.root_node)

    @cached_property
    def _shared(self) -> list[tuple[int, int]]:
        return shared_ranges(self.data)

    def is_shared(self, offset: int) -> bool:
        """Whether ROCm and CUDA builds both see this place; a branch made for one of them is nobody's finding."""
        index = bisect_right(self._shared, (offset, len(self.data) + 1)) - 1
        return index >= 0 and self._shared[index][0] <= offset < self._shared[index][1]

    def slice(self, node: Node) -> str:
        """The source text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def walk(root: Node) -> Iterator[Node]:
    """Every named node below one, in source order, without recursion: hostile files nest deeply."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.named_children))


NodesByKind = dict[str, list[tuple[int, Node]]]
"""Nodes of each kind with their place in source order."""


def by_kind(root: Node) -> NodesByKind:
    """Sort all nodes by kind, once: asking tree-sitter for a node's type is what takes time."""
    found: NodesByKind = {}
    for place, node in enumerate(walk(root)):
        found.setdefault(node.type, []).append((place, node))
    return found


def of_kinds(nodes: NodesByKind, kinds: tuple[str, ...]) -> Iterator[Node]:
    """Nodes of some kinds, in source order."""
    if len(kinds) == 1:
        return (node for _, node in nodes.get(kinds[0], ()))
    chosen = (item for kind in kinds for item in nodes.get(kind, ()))
    return (node for _, node in sorted(chosen, key=lambda item: item[0]))
