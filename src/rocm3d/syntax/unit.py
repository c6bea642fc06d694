"""A source file that is parsed once for all detectors."""

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
"""Nodes of each type with their index in source order."""

_LONGEST_NAME = 1024
_DEEPEST = 1000  # levels of nodes; the maximum seen in hand-written code is 526


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
    def was_given_up(self) -> bool:
        """Whether a parse was started and exceeded its time or memory limit."""
        return "_parsed" in self.__dict__ and self._parsed is None

    @property
    def trouble(self) -> str:
        """Which part of the syntax was not scanned, and why; empty if all of it was."""
        if self.was_given_up:
            return "exceeds the time or memory limit of the parser, so its syntax was not scanned"
        too_deep = "_walked" in self.__dict__ and self._walked[1]
        return f"nests deeper than {_DEEPEST} levels, so its innermost parts were not scanned" if too_deep else ""

    def nodes(self, *kinds: str) -> Iterator[Node]:
        """All nodes of these types, in source order."""
        if len(kinds) == 1:
            return (node for _, node in self._by_kind.get(kinds[0], ()))
        chosen = (item for kind in kinds for item in self._by_kind.get(kind, ()))
        return (node for _, node in sorted(chosen, key=lambda item: item[0]))

    @property
    def _by_kind(self) -> NodesByKind:
        return self._walked[0]

    @cached_property
    def _walked(self) -> tuple[NodesByKind, bool]:
        """The nodes by type, and whether some are too deep: in `f()()()...` each call contains all text before it."""
        # One walk with a cursor: creating node objects dominates, so each is created once.
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
        """The parent of every named node, by id: Node.parent of tree-sitter takes time proportional to the depth."""
        found: dict[int, Node] = {}
        stack = [self.tree.root_node]
        while stack:
            node = stack.pop()
            children = node.named_children
            found.update((child.id, node) for child in children)
            stack += children
        return found

    def slice(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def head(self, node: Node) -> str:
        """The first 1024 bytes of a node, enough for a name; reading all of `f(1)(1)(1)...` is quadratic."""
        end = min(node.end_byte, node.start_byte + _LONGEST_NAME)
        return self.data[node.start_byte : end].decode("utf-8", "replace")

    def tail(self, node: Node) -> str:
        """The last 1024 bytes of a node: the last name of `a.b.c` identifies the called function."""
        start = max(node.start_byte, node.end_byte - _LONGEST_NAME)
        return self.data[start : node.end_byte].decode("utf-8", "replace")


def walk(root: Node) -> Iterator[Node]:
    """A node and all named nodes below it in source order; not recursive, because hostile files nest deeply."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.named_children))
