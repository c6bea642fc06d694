"""`#if` ... `#endif` chains: the condition and byte range of each branch, evaluated under assumed macros."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from rocm3d.syntax import condition
from rocm3d.syntax.directives import CONDITIONAL, Directive, blanked, directives
from rocm3d.syntax.guards import is_guard, with_rocm

_WORD = re.compile(r"[A-Za-z_]\w*")
_COMPARED = re.compile(r"\b([A-Za-z_]\w*)\s*(<=|>=|==|!=|<|>)\s*([0-9]+)[uUlL]*")
_TURNED = re.compile(r"\b([0-9]+)[uUlL]*\s*(<=|>=|==|!=|<|>)\s*([A-Za-z_]\w*)")
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_BY_TARGET = re.compile(r"__(?:gfx|GFX)\w+|WAVE(?:FRONT)?_?(?:SIZE)?_?(?:32|64)")


@dataclass(frozen=True)
class Branch:
    """One branch. In `condition`, `#ifdef X` becomes `defined(X)`; the other fields are byte offsets."""

    text: str
    at: int
    start: int
    body: int
    end: int

    @cached_property
    def macros(self) -> frozenset[str]:
        """Every identifier of the condition except `defined`."""
        return frozenset(_WORD.findall(self.text)) - {"defined"}


@dataclass(frozen=True)
class Chain:
    """All branches from `#if` to `#endif`."""

    branches: tuple[Branch, ...]
    end: int

    @cached_property
    def knows_hip(self) -> bool:
        """Whether the condition of any branch mentions a ROCm macro."""
        return any(is_guard(macro) for branch in self.branches for macro in branch.macros)

    @property
    def has_else(self) -> bool:
        return len(self.branches) > 1 and self.branches[-1].text == "1"


def chains(data: bytes) -> list[Chain]:
    """Every closed chain, ordered by its `#if`; unbalanced directives are left out."""
    found: list[Chain] = []
    stack: list[list[Directive]] = []
    shown = blanked(data)
    for directive in directives(data):
        if directive.keyword not in CONDITIONAL:
            continue
        if directive.keyword in ("if", "ifdef", "ifndef"):
            stack.append([directive])
        elif stack and directive.keyword != "endif":
            stack[-1].append(directive)
        elif stack:
            opened = stack.pop()
            ends = [*(item.start for item in opened[1:]), directive.start]
            branches = (
                Branch(_asked(i), shown.find(b"#", i.start), i.start, i.end, end)
                for i, end in zip(opened, ends, strict=True)
            )
            found.append(Chain(tuple(branches), directive.end))
    return sorted(found, key=lambda chain: chain.branches[0].start)


def _asked(directive: Directive) -> str:
    keyword, argument = directive.keyword, directive.argument
    if keyword == "else":
        return "1"
    if keyword in ("if", "elif"):
        return argument
    name = argument.split()[0] if argument else ""
    return f"!defined({name})" if keyword in ("ifndef", "elifndef") else f"defined({name})"


def decided(text: str, defined: Mapping[str, bool], numbers: Mapping[str, float]) -> bool | None:
    """The value of a condition for these (un)defined macros and numeric macro values; None if unknown."""

    def answer(name: str, sign: str, number: str, whole: str) -> str:
        if name not in numbers:
            return whole
        left, right = numbers[name], float(number)
        results = {"<": left < right, ">": left > right, "==": left == right}
        first = results[sign[0]] if sign[0] in "<>" else results["=="] == (sign == "==")
        return str(int(first or (sign in ("<=", ">=") and left == right)))

    text = _COMPARED.sub(lambda m: answer(m[1], m[2], m[3], m[0]), text)
    text = _TURNED.sub(lambda m: answer(m[3], _MIRROR[m[2]], m[1], m[0]), text)
    return condition.value(condition.parse(text, defined.get, literals=True))


@dataclass(frozen=True)
class _Judged:
    """State of a branch, including all enclosing branches."""

    seen: bool = True
    by_target: bool = False


@dataclass(frozen=True)
class Surroundings:
    """Answers, for a byte offset, which conditions enclose it. Each branch is evaluated once per file."""

    chains: tuple[Chain, ...]

    @classmethod
    def of(cls, data: bytes) -> Surroundings:
        return cls(tuple(chains(data)))

    def seen_by_rocm(self, offset: int) -> bool:
        """Whether a ROCm build may compile the code at this offset."""
        return self._at(offset).seen

    def chosen_by_target(self, offset: int) -> bool:
        """Whether an enclosing condition tests the target architecture or the wave size."""
        return self._at(offset).by_target

    def _at(self, offset: int) -> _Judged:
        offsets, judged = self._marks
        return judged[bisect_right(offsets, offset)]

    @cached_property
    def _marks(self) -> tuple[list[int], list[_Judged]]:
        """Offsets where the innermost branch changes, and the state before the first and after each of them."""
        ends = [(chain.end, 0, n, 0) for n, chain in enumerate(self.chains)]
        starts = [(b.start, 1, n, i) for n, chain in enumerate(self.chains) for i, b in enumerate(chain.branches)]
        offsets: list[int] = []
        judged = [_Judged()]
        around: dict[int, _Judged] = {}
        inside: dict[int, list[_Judged]] = {}
        for offset, opens, n, i in sorted(ends + starts):  # at equal offsets, ends sort before starts
            if opens and i == 0:
                around[n] = judged[-1]
                inside[n] = _branches(self.chains[n], around[n])
            offsets.append(offset)
            judged.append(inside[n][i] if opens else around[n])
        return offsets, judged


def _branches(chain: Chain, around: _Judged) -> list[_Judged]:
    """States of the branches of a chain; branches after one that is certainly taken are dead."""
    found, taken, by_target = [], False, around.by_target
    for branch in chain.branches:
        value = condition.value(condition.parse(branch.text, with_rocm, literals=True))
        by_target = by_target or _BY_TARGET.search(branch.text) is not None
        found.append(_Judged(around.seen and value is not False and not taken, by_target))
        taken = taken or value is True
    return found
