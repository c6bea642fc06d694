"""A source file, parsed once for all detectors; `text` turns byte offsets into lines and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from tree_sitter import Language, Node, Parser, Tree

from rocm3d.model.text import Text

NodesByKind = dict[str, list[tuple[int, Node]]]
"""Nodes of each kind with their place in source order."""


@dataclass(frozen=True)
class ParsedUnit:
    """One file in the language of its subclass. Broken code gives error nodes, never an exception."""

    path: str
    data: bytes
    language: ClassVar[Language]

    @cached_property
    def text(self) -> Text:
        """Lines and columns."""
        return Text(self.data)

    @cached_property
    def tree(self) -> Tree:
        """The syntax tree."""
        return Parser(self.language).parse(self.data)

    def nodes(self, *kinds: str) -> Iterator[Node]:
        """All nodes of these kinds, in source order."""
        if len(kinds) == 1:
            return (node for _, node in self._by_kind.get(kinds[0], ()))
        chosen = (item for kind in kinds for item in self._by_kind.get(kind, ()))
        return (node for _, node in sorted(chosen, key=lambda item: item[0]))

    @cached_property
    def _by_kind(self) -> NodesByKind:
        # Sorted by kind once: asking tree-sitter for a node's type is what takes time.
        found: NodesByKind = {}
        for place, node in enumerate(walk(self.tree.root_node)):
            found.setdefault(node.type, []).append((place, node))
        return found

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
