"""`#if` ... `#endif` chains: the condition and byte range of each branch, evaluated under assumed macros."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import eq, ge, gt, le, lt, ne

from rocm3d.syntax.directives import CONDITIONAL, Directive, blanked, directives
from rocm3d.syntax.guards import assume_rocm, condition_text, evaluate, is_rocm_macro, parse_condition

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_MACRO_COMPARISON = re.compile(r"\b([A-Za-z_]\w*)\s*(<=|>=|==|!=|<|>)\s*([0-9]+)[uUlL]*")
_REVERSED_COMPARISON = re.compile(r"\b([0-9]+)[uUlL]*\s*(<=|>=|==|!=|<|>)\s*([A-Za-z_]\w*)")
_MIRRORED_OPERATOR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_OPERATORS = {"<": lt, ">": gt, "<=": le, ">=": ge, "==": eq, "!=": ne}
_TARGET_MACRO = re.compile(r"__(?:gfx|GFX)\w+|WAVE(?:FRONT)?_?(?:SIZE)?_?(?:32|64)")


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
        if name not in numbers:
            return original
        return str(int(_OPERATORS[sign](numbers[name], float(number))))

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
