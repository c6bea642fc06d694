"""Patterns over syntax trees in the syntax of tree-sitter queries (docs/decisions/0020 says why not tree_sitter.Query).

Supported: `(type field: (child) (child) !field) @capture`, `_`, `"token"`, `[alternatives]`, predicates and `#set!`.
A node may have one child pattern without a field; a dot before or after it makes it the first or the last named child,
comments not counted. No quantifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property

from tree_sitter import Language, Node

from rocm3d.model.errors import UserError
from rocm3d.syntax.unit import ParsedUnit

Captures = dict[str, Node]

_TOKEN = re.compile(r'\s+|;[^\n]*|"(?:\\.|[^"\\])*"|[()\[\]]|@[\w.-]+|#[\w-]+[?!]|![a-z_]+|\w+:|[\w-]+|\.', re.ASCII)
_FIRST, _LAST = ".first", ".last"  # in place of the field name of an anchored child


@dataclass(frozen=True)
class NodePattern:
    """One node: its type ("" for any named node) and its children by field name ("" for any child)."""

    kind: str = ""
    is_token: bool = False  # written in quotes: an anonymous node
    children: tuple[tuple[str, Alternatives], ...] = ()
    absent_fields: tuple[str, ...] = ()

    def matches(self, node: Node) -> Iterator[Captures]:
        """The captures of the children; the type of the node is already known to be right."""
        if node.is_named == self.is_token:
            return
        if not self.absent_fields or not any(node.child_by_field_name(name) is not None for name in self.absent_fields):
            yield from self._match_children(node, 0) if self.children else ({},)

    def _match_children(self, node: Node, index: int) -> Iterator[Captures]:
        """The captures of the child patterns from this index on."""
        name, pattern = self.children[index]
        is_last = index + 1 == len(self.children)
        for child in _children(node, name):
            for captures in pattern.matches(child):
                if is_last:
                    yield captures
                    continue
                for more in self._match_children(node, index + 1):
                    yield {**captures, **more}


def _children(node: Node, name: str) -> list[Node]:
    if name not in (_FIRST, _LAST):
        return node.children_by_field_name(name) if name else node.children
    counted = [child for child in node.named_children if child.type != "comment"]
    return counted[:1] if name == _FIRST else counted[-1:]


@dataclass(frozen=True)
class Alternatives:
    """One or more patterns for the same node, and the names under which the node is captured."""

    patterns: tuple[NodePattern | Alternatives, ...]
    captures: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types of the nodes that can match; "" stands for any."""
        return tuple(dict.fromkeys(pattern.kind for pattern, _ in self._leaves))

    @cached_property
    def _leaves(self) -> tuple[tuple[NodePattern, tuple[str, ...]], ...]:
        """The patterns without nested alternatives, each with the names of its captures."""
        leaves: list[tuple[NodePattern, tuple[str, ...]]] = []
        for pattern in self.patterns:
            inner = pattern._leaves if isinstance(pattern, Alternatives) else ((pattern, ()),)
            leaves += [(leaf, (*self.captures, *names)) for leaf, names in inner]
        return tuple(leaves)

    def matches(self, node: Node) -> Iterator[Captures]:
        kind = node.type
        for pattern, names in self._leaves:
            if pattern.kind in ("", kind):
                own = dict.fromkeys(names, node)
                for captures in pattern.matches(node):
                    yield {**own, **captures} if own else captures


@dataclass(frozen=True)
class Predicate:
    """`(#name? @capture "text")`. Arguments that name a capture start with @."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class QueryPattern:
    """One pattern of a query with its predicates and the values of its `#set!`."""

    root: Alternatives
    predicates: tuple[Predicate, ...]
    settings: dict[str, str] = field(default_factory=dict)

    def matches(self, unit: ParsedUnit) -> Iterator[Captures]:
        """The captures of each match in source order of the root node. Predicates are not evaluated."""
        for node in unit.nodes(*self.root.kinds):
            yield from self.root.matches(node)


@cache
def parse_query(text: str, language: Language) -> tuple[QueryPattern, ...]:
    """Raises UserError for a query with an error, an unknown node type or an unknown field."""
    return tuple(_Parser(text, language).patterns())


class _Parser:
    def __init__(self, text: str, language: Language) -> None:
        self._language = language
        self._tokens: list[str] = []
        self._predicates: list[Predicate] = []
        end = 0
        for match in _TOKEN.finditer(text):
            if match.start() != end:
                break
            end = match.end()
            if not match.group().isspace() and not match.group().startswith(";"):
                self._tokens.append(match.group())
        if end != len(text):
            raise UserError(f"query: unexpected {text[end : end + 20]!r}")
        self._tokens.reverse()

    def patterns(self) -> Iterator[QueryPattern]:
        while self._tokens:
            self._predicates = []
            root = self._alternatives()
            if "" in root.kinds:
                raise UserError("query: the outermost node needs a type")
            tests = tuple(item for item in self._predicates if not item.name.endswith("!"))
            settings = {item.arguments[0]: item.arguments[-1] for item in self._predicates if item.name == "set!"}
            yield QueryPattern(root, tests, settings)

    def _alternatives(self) -> Alternatives:
        token = self._next()
        patterns: list[NodePattern | Alternatives] = []
        if token == "[":
            while self._peek() != "]":
                patterns.append(self._alternatives())
            self._next()
        elif token == "(" and self._peek() in ("(", "["):  # a group of one pattern and its predicates
            patterns.append(self._alternatives())
            self._read_predicates()
            self._expect(")")
        elif token.startswith('"'):
            patterns.append(NodePattern(self._known_kind(_unquoted(token), named=False), is_token=True))
        elif token == "_":
            patterns.append(NodePattern())
        elif token == "(":
            patterns.append(self._node())
        else:
            raise UserError(f"query: unexpected {token!r}")
        return Alternatives(tuple(patterns), self._captures())

    def _node(self) -> NodePattern:
        name = self._next()
        kind = "" if name == "_" else self._known_kind(name, named=True)
        children: list[tuple[str, Alternatives]] = []
        absent_fields: list[str] = []
        while self._peek() != ")":
            if self._read_predicates():
                continue
            token = self._peek()
            if token.startswith("!"):
                absent_fields.append(self._known_field(self._next()[1:]))
            elif token.endswith(":"):
                children.append((self._known_field(self._next()[:-1]), self._alternatives()))
            else:
                if any(other in ("", _FIRST, _LAST) for other, _ in children):
                    raise UserError(f"query: {name} has two children without a field")
                children.append(self._child_without_field())
        self._next()
        return NodePattern(kind, children=tuple(children), absent_fields=tuple(absent_fields))

    def _child_without_field(self) -> tuple[str, Alternatives]:
        is_first = self._take_dot()
        pattern = self._alternatives()
        self._read_predicates()
        return _FIRST if is_first else _LAST if self._take_dot() else "", pattern

    def _take_dot(self) -> bool:
        is_dot = self._peek() == "."
        if is_dot:
            self._next()
        return is_dot

    def _read_predicates(self) -> bool:
        """Read `(#name? ...)` if the next tokens are one or more of them."""
        count = len(self._predicates)
        while self._tokens[-2:-1] and self._peek() == "(" and self._tokens[-2].startswith("#"):
            self._next()
            name, arguments = self._next()[1:], []
            while self._peek() != ")":
                token = self._next()
                arguments.append(_unquoted(token) if token.startswith('"') else token)
            self._next()
            self._predicates.append(Predicate(name.removesuffix("?"), tuple(arguments)))
        return len(self._predicates) > count

    def _captures(self) -> tuple[str, ...]:
        names = []
        while self._tokens and self._peek().startswith("@"):
            names.append(self._next()[1:])
        return tuple(names)

    def _known_kind(self, kind: str, *, named: bool) -> str:
        if self._language.id_for_node_kind(kind, named) is None:
            raise UserError(f"query: {self._language.name} has no node type {kind!r}")
        return kind

    def _known_field(self, name: str) -> str:
        if self._language.field_id_for_name(name) is None:
            raise UserError(f"query: {self._language.name} has no field {name!r}")
        return name

    def _peek(self) -> str:
        if not self._tokens:
            raise UserError("query: it ends too early")
        return self._tokens[-1]

    def _next(self) -> str:
        token = self._peek()
        self._tokens.pop()
        return token

    def _expect(self, expected: str) -> None:
        if (token := self._next()) != expected:
            raise UserError(f"query: {token!r} instead of {expected!r}")


def _unquoted(token: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match.group(1), match.group(1)), token[1:-1])
