"""`#if` chains as wholes: what each branch asks, where it stands, and what it comes to in a given world."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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
    """One branch: its condition (of `#ifdef X` too, as `defined(X)`), its `#`, and its bytes, directive first."""

    text: str
    at: int
    start: int
    body: int
    end: int

    @property
    def macros(self) -> frozenset[str]:
        """Every word of the condition."""
        return frozenset(_WORD.findall(self.text)) - {"defined"}


@dataclass(frozen=True)
class Chain:
    """From `#if` to `#endif`."""

    branches: tuple[Branch, ...]
    end: int

    @property
    def knows_hip(self) -> bool:
        """Whether any branch asks for ROCm."""
        return any(is_guard(macro) for branch in self.branches for macro in branch.macros)

    @property
    def has_else(self) -> bool:
        """Whether there is an `#else`."""
        return len(self.branches) > 1 and self.branches[-1].text == "1"


def chains(data: bytes) -> list[Chain]:
    """Every closed chain, in the order of their `#if`; what is unbalanced is left out."""
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
    """What a condition comes to where these macros are (not) defined and compare like these numbers."""

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
class Surroundings:
    """The chains of one file, asked for a place."""

    chains: tuple[Chain, ...]

    @classmethod
    def of(cls, data: bytes) -> Surroundings:
        """Of a whole file."""
        return cls(tuple(chains(data)))

    def _around(self, offset: int) -> Iterator[tuple[Chain, int]]:
        for chain in self.chains:
            if chain.branches[0].start <= offset < chain.end:
                yield chain, max(bisect_right([branch.start for branch in chain.branches], offset) - 1, 0)

    def seen_by_rocm(self, offset: int) -> bool:
        """Whether a ROCm build may compile this place."""
        for chain, index in self._around(offset):
            values = [
                condition.value(condition.parse(branch.text, with_rocm, literals=True))
                for branch in chain.branches[: index + 1]
            ]
            if values[-1] is False or True in values[:-1]:
                return False
        return True

    def chosen_by_target(self, offset: int) -> bool:
        """Whether a branch around the place was picked by the GPU it is built for."""
        return any(
            _BY_TARGET.search(branch.text)
            for chain, index in self._around(offset)
            for branch in chain.branches[: index + 1]
        )
