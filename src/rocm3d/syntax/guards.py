"""Which parts of a C++ file ROCm builds, CUDA builds or both compile: `#if` evaluated under assumed macros.

Conditions are evaluated in three-valued logic: true, false or unknown. `#if` ... `#endif` chains have the condition and
byte range of each branch.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import eq, ge, gt, le, lt, ne

from rocm3d.syntax.directives import CONDITIONAL, Directive, blanked, directives

MacroAssumption = Callable[[str], "bool | None"]
"""Whether a macro is defined (and, if so, non-zero): true, false, or unknown."""

# Defined by torch's BuildExtension, hipcc and clang in every ROCm compilation, host and device.
_DEFINED_FOR_ROCM = frozenset(
    {"USE_ROCM", "__HIP_PLATFORM_AMD__", "__HIP_PLATFORM_HCC__", "__HIPCC__", "__HIP__", "TORCH_HIP_VERSION"}
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_MACRO_COMPARISON = re.compile(r"\b([A-Za-z_]\w*)\s*(<=|>=|==|!=|<|>)\s*([0-9]+)[uUlL]*")
_REVERSED_COMPARISON = re.compile(r"\b([0-9]+)[uUlL]*\s*(<=|>=|==|!=|<|>)\s*([A-Za-z_]\w*)")
_MIRRORED_OPERATOR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_OPERATORS = {"<": lt, ">": gt, "<=": le, ">=": ge, "==": eq, "!=": ne}
_TARGET_MACRO = re.compile(r"__(?:gfx|GFX)\w+|WAVE(?:FRONT)?_?(?:SIZE)?_?(?:32|64)")
_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9A-Za-z_']*|&&|\|\||[!()]|\S")
# Operands that need no parentheses after `!`.
_NEEDS_NO_PARENTHESES = re.compile(r"\w+|defined\s*\(\s*\w+\s*\)|defined\s+\w+")


def is_rocm_macro(macro: str) -> bool:
    """Whether a macro distinguishes ROCm from CUDA."""
    return macro in _DEFINED_FOR_ROCM or macro.startswith("__HIP")


def assume_cuda(macro: str) -> bool | None:
    """Assumption for NVIDIA builds: no ROCm macro is defined; other macros are unknown."""
    return False if is_rocm_macro(macro) else None


def assume_rocm(macro: str) -> bool | None:
    """Assumption for ROCm builds. Device-pass macros such as __HIP_DEVICE_COMPILE__ stay unknown."""
    return True if macro in _DEFINED_FOR_ROCM else None


def fold_cpp(data: bytes, assume: MacroAssumption) -> bytes:
    """The file under the assumption: known branches resolved, everything else byte for byte."""
    return b"".join(text for _, _, text in _Folder(data, assume, literals=False).run())


def shared_ranges(data: bytes) -> list[tuple[int, int]]:
    """Byte ranges that both ROCm and CUDA builds may compile; findings elsewhere would be meaningless."""
    rocm_ranges, cuda_ranges = (
        [(start, end) for start, end, _ in _Folder(data, assume, literals=True).run()]
        for assume in (assume_rocm, assume_cuda)
    )
    return _intersection(rocm_ranges, cuda_ranges)


def cuda_ranges(data: bytes) -> list[tuple[int, int]]:
    """Byte ranges that CUDA builds may compile, in order."""
    return [(start, end) for start, end, _ in _Folder(data, assume_cuda, literals=True).run()]


def _intersection(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> list[tuple[int, int]]:
    overlaps: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < end:
            overlaps.append((start, end))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return overlaps


@dataclass
class _OpenChain:
    """One open #if chain during evaluation."""

    is_parent_live: bool
    is_live: bool = False  # the current branch is retained
    is_taken: bool = False  # a branch is certainly taken: later branches are dead
    needs_endif: bool = False  # a directive of this chain was retained, so its #endif must be too


@dataclass
class _Folder:
    """Collects the parts of a file that remain under the assumption."""

    data: bytes
    assume: MacroAssumption
    literals: bool
    retained: list[tuple[int, int, bytes]] = field(default_factory=list)  # start, end, text
    open_chains: list[_OpenChain] = field(default_factory=list)

    def run(self) -> list[tuple[int, int, bytes]]:
        offset = 0
        for directive in directives(self.data):
            self._retain(offset, directive.start)
            if directive.keyword in CONDITIONAL:
                self._conditional(directive)
            else:
                self._retain(directive.start, directive.end)
            offset = directive.end
        self._retain(offset, len(self.data))
        return self.retained

    def _is_live(self) -> bool:
        return not self.open_chains or self.open_chains[-1].is_live

    def _retain(self, start: int, end: int, text: bytes | None = None) -> None:
        """Retain a part of the file, if it is live; `text` replaces all of it except its newline."""
        if start < end and self._is_live():
            original = self.data[start:end]
            self.retained.append((start, end, original if text is None else text + _newline_of(original)))

    def _conditional(self, directive: Directive) -> None:
        if directive.opens:
            self.open_chains.append(_OpenChain(self._is_live()))
        if not self.open_chains:
            self._retain(directive.start, directive.end)  # unbalanced: retain it unchanged
        elif directive.keyword != "endif":
            self._branch(directive, self.open_chains[-1])
        elif self.open_chains.pop().needs_endif:
            self._retain(directive.start, directive.end)

    def _branch(self, directive: Directive, chain: _OpenChain) -> None:
        is_else = directive.keyword == "else"
        node = parse_condition(condition_text(directive), self.assume, literals=self.literals or is_else)
        value = evaluate(node)
        chain.is_live = chain.is_parent_live and not chain.is_taken and value is not False
        if not chain.is_live:
            return
        if value is None:
            text = _simplified_directive(directive, node, as_if=not chain.needs_endif)
            self._retain(directive.start, directive.end, text)
            chain.needs_endif = True
            return
        if chain.needs_endif:
            self._retain(directive.start, directive.end, None if is_else else b"#else")
        chain.is_taken = True


def _simplified_directive(directive: Directive, node: ConditionNode, *, as_if: bool) -> bytes | None:
    """The simplified directive, or None if its bytes stay unchanged: same keyword role and no known operand."""
    if directive.opens == as_if and not has_known_part(node):
        return None
    return (b"#if " if as_if else b"#elif ") + simplified(node).encode()


def _newline_of(line: bytes) -> bytes:
    return b"\r\n" if line.endswith(b"\r\n") else b"\n" if line.endswith(b"\n") else b""


def condition_text(directive: Directive) -> str:
    """The condition of a branch, where `#ifdef X` becomes `defined(X)` and `#else` becomes `1`."""
    keyword, argument = directive.keyword, directive.argument
    if keyword == "else":
        return "1"
    if keyword in ("if", "elif"):
        return argument
    name = argument.split()[0] if argument else ""
    return f"!defined({name})" if keyword in ("ifndef", "elifndef") else f"defined({name})"


@dataclass(frozen=True)
class IfBranch:
    """One branch. In `condition`, `#ifdef X` becomes `defined(X)`; the other fields are byte offsets."""

    condition: str
    hash_offset: int
    start: int
    body_start: int
    end: int

    @cached_property
    def macros(self) -> frozenset[str]:
        """Every identifier of the condition except `defined`."""
        return frozenset(_IDENTIFIER.findall(self.condition)) - {"defined"}


@dataclass(frozen=True)
class IfChain:
    """All branches from `#if` to `#endif`."""

    branches: tuple[IfBranch, ...]
    end: int

    @cached_property
    def mentions_rocm(self) -> bool:
        """Whether the condition of any branch mentions a ROCm macro."""
        return any(is_rocm_macro(macro) for branch in self.branches for macro in branch.macros)

    @property
    def has_else(self) -> bool:
        return len(self.branches) > 1 and self.branches[-1].condition == "1"


def if_chains(data: bytes) -> list[IfChain]:
    """Every closed chain, ordered by its `#if`; unbalanced directives are left out."""
    closed_chains: list[IfChain] = []
    stack: list[list[Directive]] = []
    code = blanked(data)
    for directive in directives(data):
        if directive.keyword not in CONDITIONAL:
            continue
        if directive.opens:
            stack.append([directive])
        elif stack and directive.keyword != "endif":
            stack[-1].append(directive)
        elif stack:
            opened = stack.pop()
            ends = [*(branch_start.start for branch_start in opened[1:]), directive.start]
            branches = (
                IfBranch(condition_text(i), code.find(b"#", i.start), i.start, i.end, end)
                for i, end in zip(opened, ends, strict=True)
            )
            closed_chains.append(IfChain(tuple(branches), directive.end))
    return sorted(closed_chains, key=lambda chain: chain.branches[0].start)


def evaluate_condition(text: str, defined: Mapping[str, bool], numbers: Mapping[str, float]) -> bool | None:
    """The value of a condition for these (un)defined macros and numeric macro values; None if unknown."""

    def replace_comparison(name: str, sign: str, number: str, original: str) -> str:
        return str(int(_OPERATORS[sign](numbers[name], float(number)))) if name in numbers else original

    text = _MACRO_COMPARISON.sub(lambda m: replace_comparison(m[1], m[2], m[3], m[0]), text)
    text = _REVERSED_COMPARISON.sub(lambda m: replace_comparison(m[3], _MIRRORED_OPERATOR[m[2]], m[1], m[0]), text)
    return evaluate(parse_condition(text, defined.get, literals=True))


@dataclass(frozen=True)
class _BranchState:
    """State of a branch, including all enclosing branches."""

    can_compile: bool = True
    is_target_specific: bool = False


@dataclass(frozen=True)
class PreprocessorContext:
    """Answers, for a byte offset, which conditions enclose it. Each branch is evaluated once per file."""

    chains: tuple[IfChain, ...]

    @classmethod
    def of(cls, data: bytes) -> PreprocessorContext:
        return cls(tuple(if_chains(data)))

    def can_compile_for_rocm(self, offset: int) -> bool:
        """Whether a ROCm build may compile the code at this offset."""
        return self._state_at(offset).can_compile

    def is_target_specific(self, offset: int) -> bool:
        """Whether an enclosing condition tests the target architecture or the wave size."""
        return self._state_at(offset).is_target_specific

    def _state_at(self, offset: int) -> _BranchState:
        offsets, states = self._states
        return states[bisect_right(offsets, offset)]

    @cached_property
    def _states(self) -> tuple[list[int], list[_BranchState]]:
        """Offsets where the innermost branch changes, and the state before the first and after each of them."""
        ends = [(chain.end, 0, n, 0) for n, chain in enumerate(self.chains)]
        starts = [(b.start, 1, n, i) for n, chain in enumerate(self.chains) for i, b in enumerate(chain.branches)]
        offsets: list[int] = []
        states = [_BranchState()]
        outer_states: dict[int, _BranchState] = {}
        branch_states: dict[int, list[_BranchState]] = {}
        for offset, opens, n, i in sorted(ends + starts):  # at equal offsets, ends sort before starts
            if opens and i == 0:
                outer_states[n] = states[-1]
                branch_states[n] = _branch_states(self.chains[n], outer_states[n])
            offsets.append(offset)
            states.append(branch_states[n][i] if opens else outer_states[n])
        return offsets, states


def _branch_states(chain: IfChain, outer: _BranchState) -> list[_BranchState]:
    """States of the branches of a chain; branches after one that is certainly taken are dead."""
    states, is_taken, by_target = [], False, outer.is_target_specific
    for branch in chain.branches:
        value = evaluate(parse_condition(branch.condition, assume_rocm, literals=True))
        by_target = by_target or _TARGET_MACRO.search(branch.condition) is not None
        states.append(_BranchState(outer.can_compile and value is not False and not is_taken, by_target))
        is_taken = is_taken or value is True
    return states


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
    return any(map(has_known_part, (node.operand,) if isinstance(node, Not) else node.operands))


def simplified(node: ConditionNode) -> str:
    """The text of an unknown condition without the operands whose value is known."""
    node = _only_unknown_operand(node)
    if isinstance(node, Atom):
        return node.text
    if isinstance(node, Not):
        inner = _only_unknown_operand(node.operand)
        text = simplified(inner)
        return f"!{text}" if isinstance(inner, Not) or _NEEDS_NO_PARENTHESES.fullmatch(text) else f"!({text})"
    return f" {node.operator} ".join(_parenthesized(part) for part in _unknown_operands(node))


def _only_unknown_operand(node: ConditionNode) -> ConditionNode:
    """The single unknown operand of a chain, if it has exactly one; else the node itself."""
    while isinstance(node, BooleanOperation) and len(unknown := _unknown_operands(node)) == 1:
        node = unknown[0]
    return node


def _unknown_operands(node: BooleanOperation) -> list[ConditionNode]:
    return [operand for operand in node.operands if evaluate(operand) is None]


def _parenthesized(node: ConditionNode) -> str:
    text = simplified(node)
    return f"({text})" if isinstance(node, BooleanOperation) and re.search(r"&&|\|\|", text) else text


def parse_condition(text: str, assume: MacroAssumption, *, literals: bool) -> ConditionNode:
    """Parse a condition. With `literals`, plain integers have a value too, as in `#if 0`."""
    tokens = [(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]
    # The parser recurses, so hostile nesting stays unknown; hand-written conditions are never this deep.
    if "?" in text or text.count("(") + text.count("!") > 64:
        return Atom(text.strip(), None)
    parser = _Parser(text, tokens, assume, literals)
    node = parser.disjunction()
    return node if parser.index == len(tokens) else Atom(text.strip(), None)


@dataclass
class _Parser:
    text: str
    tokens: list[tuple[str, int, int]]
    assume: MacroAssumption
    literals: bool
    index: int = 0

    def disjunction(self) -> ConditionNode:
        return self._chain("||", lambda: self._chain("&&", self._unary))

    def _peek(self, ahead: int = 0) -> str:
        position = self.index + ahead
        return self.tokens[position][0] if position < len(self.tokens) else ""

    def _chain(self, operator: str, operand: Callable[[], ConditionNode]) -> ConditionNode:
        operands = [operand()]
        while self._peek() == operator:
            self.index += 1
            operands.append(operand())
        return operands[0] if len(operands) == 1 else BooleanOperation(operator, tuple(operands))

    def _unary(self) -> ConditionNode:
        start = self.index
        node = self._negation() or self._group() or self._atom()
        if node is not None and self._peek() in ("", "&&", "||", ")"):
            return node
        # Arithmetic or a call: one opaque atom up to the next && or ||.
        self.index = start
        return self._opaque()

    def _negation(self) -> ConditionNode | None:
        if self._peek() != "!":
            return None
        self.index += 1
        return Not(self._group() or self._atom() or self._negation() or self._opaque())

    def _group(self) -> ConditionNode | None:
        if self._peek() != "(":
            return None
        start, self.index = self.index, self.index + 1
        node = self.disjunction()
        if self._peek() == ")":
            self.index += 1
            return node
        self.index = start
        return None

    def _atom(self) -> ConditionNode | None:
        token, start = self._peek(), self.index
        if token == "defined":
            inner = self._peek(1) == "("
            name = self._peek(2 if inner else 1)
            self.index += 4 if inner else 2
            return Atom(self._span(start), self.assume(name))
        if not re.match(r"\w", token, re.ASCII):
            return None
        self.index += 1
        if token[0].isdigit():
            return Atom(token, _integer_truth(token) if self.literals else None)
        return Atom(token, self.assume(token))

    def _opaque(self) -> ConditionNode:
        start, depth = self.index, 0
        while self.index < len(self.tokens):
            token = self._peek()
            if depth == 0 and token in ("&&", "||", ")"):
                break
            depth += {"(": 1, ")": -1}.get(token, 0)
            self.index += 1
        return Atom(self._span(start), None)

    def _span(self, start: int) -> str:
        if start >= len(self.tokens) or self.index == start:
            return ""
        return self.text[self.tokens[start][1] : self.tokens[start : self.index][-1][2]]


def _integer_truth(literal: str) -> bool | None:
    try:
        digits = literal.rstrip("uUlL").replace("'", "")
        return int(digits, 8 if re.fullmatch(r"0[0-7]+", digits) else 0) != 0
    except ValueError:
        return None
