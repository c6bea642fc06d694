"""Conditions of `#if` in three-valued logic: true, false or unknown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

MacroAssumption = Callable[[str], "bool | None"]
"""Whether a macro is defined (and, if so, non-zero): true, false, or unknown."""

_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9A-Za-z_']*|&&|\|\||[!()]|\S")


# Operands that need no parentheses after `!`.
_NEEDS_NO_PARENTHESES = re.compile(r"\w+|defined\s*\(\s*\w+\s*\)|defined\s+\w+")


@dataclass(frozen=True)
class Atom:
    """A macro, literal or opaque expression; `value` is None if unknown."""

    text: str
    value: bool | None


@dataclass(frozen=True)
class Not:
    operand: ConditionNode


@dataclass(frozen=True)
class BooleanOperation:
    """Operands joined by `&&` or `||`."""

    operator: str
    operands: tuple[ConditionNode, ...]


ConditionNode = Atom | Not | BooleanOperation


def evaluate(node: ConditionNode) -> bool | None:
    """The value of a condition; None if it depends on unknown macros."""
    if isinstance(node, Atom):
        return node.value
    if isinstance(node, Not):
        inner = evaluate(node.operand)
        return None if inner is None else not inner
    decisive = node.operator == "||"
    values = [evaluate(operand) for operand in node.operands]
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def has_known_part(node: ConditionNode) -> bool:
    """Whether any part of a condition has a known value, so that simplifying changes its text."""
    if isinstance(node, Atom):
        return node.value is not None
    parts = (node.operand,) if isinstance(node, Not) else node.operands
    return any(has_known_part(part) for part in parts)


def simplified(node: ConditionNode) -> str:
    """The text of an unknown condition without the operands whose value is known."""
    if isinstance(node, Atom):
        return node.text
    if isinstance(node, Not):
        inner = _only_unknown_operand(node.operand)
        text = simplified(inner)
        return f"!{text}" if isinstance(inner, Not) or _NEEDS_NO_PARENTHESES.fullmatch(text) else f"!({text})"
    unknown = [operand for operand in node.operands if evaluate(operand) is None]
    return (
        simplified(unknown[0])
        if len(unknown) == 1
        else f" {node.operator} ".join(_parenthesized(part) for part in unknown)
    )


def _only_unknown_operand(node: ConditionNode) -> ConditionNode:
    """The single unknown operand of a chain, if it has exactly one."""
    while isinstance(node, BooleanOperation):
        unknown = [operand for operand in node.operands if evaluate(operand) is None]
        if len(unknown) != 1:
            break
        node = unknown[0]
    return node


def _parenthesized(node: ConditionNode) -> str:
    text = simplified(node)
    return f"({text})" if isinstance(node, BooleanOperation) and re.search(r"&&|\|\|", text) else text


def parse(text: str, assume: MacroAssumption, *, literals: bool) -> ConditionNode:
    """Parse a condition. With `literals`, plain integers have a value too, as in `#if 0`."""
    tokens = [(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]
    # The parser recurses, so hostile nesting stays unknown; hand-written conditions are never this deep.
    if "?" in text or text.count("(") + text.count("!") > 64:
        return Atom(text.strip(), None)
    reader = _Parser(text, tokens, assume, literals)
    node = reader.chain("||", lambda: reader.chain("&&", reader.unary))
    return node if reader.index == len(tokens) else Atom(text.strip(), None)


@dataclass
class _Parser:
    text: str
    tokens: list[tuple[str, int, int]]
    assume: MacroAssumption
    literals: bool
    index: int = 0

    def peek(self, ahead: int = 0) -> str:
        position = self.index + ahead
        return self.tokens[position][0] if position < len(self.tokens) else ""

    def chain(self, operator: str, operand: Callable[[], ConditionNode]) -> ConditionNode:
        operands = [operand()]
        while self.peek() == operator:
            self.index += 1
            operands.append(operand())
        return operands[0] if len(operands) == 1 else BooleanOperation(operator, tuple(operands))

    def unary(self) -> ConditionNode:
        start = self.index
        node = self._negation() or self._group() or self._atom()
        if node is not None and self.peek() in ("", "&&", "||", ")"):
            return node
        # Arithmetic or a call: one opaque atom up to the next && or ||.
        self.index = start
        return self._opaque()

    def _negation(self) -> ConditionNode | None:
        if self.peek() != "!":
            return None
        self.index += 1
        return Not(self._group() or self._atom() or self._negation() or self._opaque())

    def _group(self) -> ConditionNode | None:
        if self.peek() != "(":
            return None
        start, self.index = self.index, self.index + 1
        node = self.chain("||", lambda: self.chain("&&", self.unary))
        if self.peek() == ")":
            self.index += 1
            return node
        self.index = start
        return None

    def _atom(self) -> ConditionNode | None:
        token, start = self.peek(), self.index
        if token == "defined":
            inner = self.peek(1) == "("
            name = self.peek(2 if inner else 1)
            self.index += 4 if inner else 2
            return Atom(self._span(start), self.assume(name))
        if re.match(r"[A-Za-z_]", token):
            self.index += 1
            return Atom(token, self.assume(token))
        if re.match(r"[0-9]", token):
            self.index += 1
            return Atom(token, _integer_truth(token) if self.literals else None)
        return None

    def _opaque(self) -> ConditionNode:
        start, depth = self.index, 0
        while self.index < len(self.tokens):
            token = self.peek()
            if depth == 0 and token in ("&&", "||", ")"):
                break
            depth += {"(": 1, ")": -1}.get(token, 0)
            self.index += 1
        return Atom(self._span(start), None)

    def _span(self, start: int) -> str:
        if start >= len(self.tokens) or self.index == start:
            return ""
        last = min(self.index, len(self.tokens)) - 1
        return self.text[self.tokens[start][1] : self.tokens[last][2]]


def _integer_truth(literal: str) -> bool | None:
    try:
        digits = literal.rstrip("uUlL").replace("'", "")
        return int(digits, 8 if re.fullmatch(r"0[0-7]+", digits) else 0) != 0
    except ValueError:
        return None
