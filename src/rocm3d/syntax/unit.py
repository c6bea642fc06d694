"""A source file, parsed once for all detectors; `text` turns byte offsets into lines and columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from tree_sitter import Language, Node, Parser, Tree

from rocm3d.model.text import Text
from rocm3d.syntax.bounded_parse import bounded_parse

NodesByKind = dict[str, list[tuple[int, Node]]]
"""Nodes of each kind with their place in source order."""

_LONGEST_NAME = 1024
_DEEPEST = 1000  # levels of nodes; the deepest seen in code that people wrote is 526


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

    @property
    def source(self) -> bytes:
        """What is parsed; as long as the file."""
        return self.data

    @cached_property
    def tree(self) -> Tree:
        """The syntax tree; an empty one where the parse had to be given up."""
        return self._parsed or Parser(self.language).parse(b"")

    @cached_property
    def _parsed(self) -> Tree | None:
        return bounded_parse(self.language, self.source)

    @property
    def was_given_up(self) -> bool:
        """Whether somebody wanted the tree and it took too long, or too much memory."""
        return "_parsed" in self.__dict__ and self._parsed is None

    @property
    def trouble(self) -> str:
        """What was not looked at by those who wanted nodes, and why; empty where all is well."""
        if self.was_given_up:
            return "takes too long or too much memory to parse, so its syntax was not looked at"
        too_deep = "_walked" in self.__dict__ and self._walked[1]
        return f"nests deeper than {_DEEPEST} levels, so its innermost parts were not looked at" if too_deep else ""

    def nodes(self, *kinds: str) -> Iterator[Node]:
        """All nodes of these kinds, in source order."""
        if len(kinds) == 1:
            return (node for _, node in self._by_kind.get(kinds[0], ()))
        chosen = (item for kind in kinds for item in self._by_kind.get(kind, ()))
        return (node for _, node in sorted(chosen, key=lambda item: item[0]))

    @property
    def _by_kind(self) -> NodesByKind:
        return self._walked[0]

    @cached_property
    def _walked(self) -> tuple[NodesByKind, bool]:
        """The nodes, and whether some lie too deep: in `f()()()...` each call is all of the text before it, too."""
        # Sorted by kind once, along a cursor: nodes are what takes time, so each is made once.
        found: NodesByKind = defaultdict(list)
        cursor, place, depth, too_deep = self.tree.walk(), 0, 0, False
        while True:
            node = cursor.node
            if node is not None and node.is_named:
                found[node.type].append((place, node))
                place += 1
            if depth < _DEEPEST and cursor.goto_first_child():
                depth += 1
                continue
            too_deep = too_deep or (depth == _DEEPEST and node is not None and node.child_count > 0)
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return dict(found), too_deep
                depth -= 1

    @cached_property
    def parents(self) -> dict[int, Node]:
        """What stands around every named node, by its id: asking tree-sitter takes as long as the nesting is deep."""
        found: dict[int, Node] = {}
        stack = [self.tree.root_node]
        while stack:
            node = stack.pop()
            children = node.named_children
            found.update((child.id, node) for child in children)
            stack += children
        return found

    def slice(self, node: Node) -> str:
        """The source text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def head(self, node: Node) -> str:
        """The text of a node, cut off where no name goes on: of `f(1)(1)(1)...` every part would be read in full."""
        end = min(node.end_byte, node.start_byte + _LONGEST_NAME)
        return self.data[node.start_byte : end].decode("utf-8", "replace")

    def tail(self, node: Node) -> str:
        """The end of a node's text, likewise: the last name of `a.b.c` is all that says what is called."""
        start = max(node.start_byte, node.end_byte - _LONGEST_NAME)
        return self.data[start : node.end_byte].decode("utf-8", "replace")


def walk(root: Node) -> Iterator[Node]:
    """Every named node below one, in source order, without recursion: hostile files nest deeply."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.named_children))
