"""Conditions of `#if` in three-valued logic: true, false or unknown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Assume = Callable[[str], "bool | None"]
"""Whether a macro is defined (and, if so, non-zero): true, false, or unknown."""

_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9A-Za-z_']*|&&|\|\||[!()]|\S")


# Operands that need no parentheses after `!`.
_PLAIN = re.compile(r"\w+|defined\s*\(\s*\w+\s*\)|defined\s+\w+")


@dataclass(frozen=True)
class Atom:
    """A macro, literal or opaque expression; `value` is None if unknown."""

    text: str
    value: bool | None


@dataclass(frozen=True)
class Not:
    operand: Node


@dataclass(frozen=True)
class Chain:
    """Operands joined by `&&` or `||`."""

    operator: str
    operands: tuple[Node, ...]


Node = Atom | Not | Chain


def value(node: Node) -> bool | None:
    """The value of a condition; None if it depends on unknown macros."""
    if isinstance(node, Atom):
        return node.value
    if isinstance(node, Not):
        inner = value(node.operand)
        return None if inner is None else not inner
    decisive = node.operator == "||"
    values = [value(operand) for operand in node.operands]
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def decides(node: Node) -> bool:
    """Whether any part of a condition has a known value, so that simplifying changes its text."""
    if isinstance(node, Atom):
        return node.value is not None
    parts = (node.operand,) if isinstance(node, Not) else node.operands
    return any(decides(part) for part in parts)


def simplified(node: Node) -> str:
    """The text of an unknown condition without the operands whose value is known."""
    if isinstance(node, Atom):
        return node.text
    if isinstance(node, Not):
        inner = _reduced(node.operand)
        text = simplified(inner)
        return f"!{text}" if isinstance(inner, Not) or _PLAIN.fullmatch(text) else f"!({text})"
    rest = [operand for operand in node.operands if value(operand) is None]
    return simplified(rest[0]) if len(rest) == 1 else f" {node.operator} ".join(_wrapped(part) for part in rest)


def _reduced(node: Node) -> Node:
    """The single unknown operand of a chain, if it has exactly one."""
    while isinstance(node, Chain):
        rest = [operand for operand in node.operands if value(operand) is None]
        if len(rest) != 1:
            break
        node = rest[0]
    return node


def _wrapped(node: Node) -> str:
    text = simplified(node)
    return f"({text})" if isinstance(node, Chain) and re.search(r"&&|\|\|", text) else text


def parse(text: str, assume: Assume, *, literals: bool) -> Node:
    """Parse a condition. With `literals`, plain integers have a value too, as in `#if 0`."""
    tokens = [(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]
    # The parser recurses, so hostile nesting stays unknown; hand-written conditions are never this deep.
    if "?" in text or text.count("(") + text.count("!") > 64:
        return Atom(text.strip(), None)
    reader = _Reader(text, tokens, assume, literals)
    node = reader.chain("||", lambda: reader.chain("&&", reader.unary))
    return node if reader.at == len(tokens) else Atom(text.strip(), None)


@dataclass
class _Reader:
    text: str
    tokens: list[tuple[str, int, int]]
    assume: Assume
    literals: bool
    at: int = 0

    def peek(self, ahead: int = 0) -> str:
        position = self.at + ahead
        return self.tokens[position][0] if position < len(self.tokens) else ""

    def chain(self, operator: str, operand: Callable[[], Node]) -> Node:
        operands = [operand()]
        while self.peek() == operator:
            self.at += 1
            operands.append(operand())
        return operands[0] if len(operands) == 1 else Chain(operator, tuple(operands))

    def unary(self) -> Node:
        start = self.at
        node = self._negation() or self._group() or self._word()
        if node is not None and self.peek() in ("", "&&", "||", ")"):
            return node
        # Arithmetic or a call: one opaque atom up to the next && or ||.
        self.at = start
        return self._opaque()

    def _negation(self) -> Node | None:
        if self.peek() != "!":
            return None
        self.at += 1
        return Not(self._group() or self._word() or self._negation() or self._opaque())

    def _group(self) -> Node | None:
        if self.peek() != "(":
            return None
        start, self.at = self.at, self.at + 1
        node = self.chain("||", lambda: self.chain("&&", self.unary))
        if self.peek() == ")":
            self.at += 1
            return node
        self.at = start
        return None

    def _word(self) -> Node | None:
        word, start = self.peek(), self.at
        if word == "defined":
            inner = self.peek(1) == "("
            name = self.peek(2 if inner else 1)
            self.at += 4 if inner else 2
            return Atom(self._span(start), self.assume(name))
        if re.match(r"[A-Za-z_]", word):
            self.at += 1
            return Atom(word, self.assume(word))
        if re.match(r"[0-9]", word):
            self.at += 1
            return Atom(word, _integer(word) if self.literals else None)
        return None

    def _opaque(self) -> Node:
        start, depth = self.at, 0
        while self.at < len(self.tokens):
            token = self.peek()
            if depth == 0 and token in ("&&", "||", ")"):
                break
            depth += {"(": 1, ")": -1}.get(token, 0)
            self.at += 1
        return Atom(self._span(start), None)

    def _span(self, start: int) -> str:
        if start >= len(self.tokens) or self.at == start:
            return ""
        last = min(self.at, len(self.tokens)) - 1
        return self.text[self.tokens[start][1] : self.tokens[last][2]]


def _integer(word: str) -> bool | None:
    try:
        digits = word.rstrip("uUlL").replace("'", "")
        return int(digits, 8 if re.fullmatch(r"0[0-7]+", digits) else 0) != 0
    except ValueError:
        return None
